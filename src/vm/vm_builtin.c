/*
 * vm_builtin: the built-in variables.
 *
 * The interpreter runs BEGIN, END and ERROR inside this process, so pid, execname and the rest are
 * those of this process and its current thread. Values known only to the kernel (curthread,
 * registers, stacks) read as 0. Texts are a table; each is filled in on first use in a firing and
 * stays readable at a fixed address, cut to strsize.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "vm/machine.h"

#define TEXT_MAX 4096

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t dt_vm_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static size_t read_file(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	n = n < 0 ? 0 : n;
	to[n] = '\0';
	return (size_t)n;
}

static void first_line(char *s)
{
	s[strcspn(s, "\n")] = '\0';
}

/* ---- texts: each writes at most TEXT_MAX bytes ---- */

static void text_execname(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	if (read_file("/proc/self/comm", to, TEXT_MAX) == 0) /* no /proc */
		prctl(PR_GET_NAME, to);
	first_line(to);
}

static void text_threadname(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	prctl(PR_GET_NAME, to);
}

static void text_execargs(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	size_t n = read_file("/proc/self/cmdline", to, TEXT_MAX);

	while (n && !to[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!to[i])
			to[i] = ' ';
}

/* The path of our cgroup in the unified hierarchy: "/user.slice/...". */
static void cgroup_path(char *to)
{
	char text[TEXT_MAX], *p = text, *save = NULL;

	read_file("/proc/self/cgroup", text, sizeof(text));
	for (p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		if (strncmp(p, "0::", 3) == 0)
			break;
	strcpy(to, p ? p + 3 : "/");
}

static void text_cgroupname(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	char path[TEXT_MAX], *slash;

	cgroup_path(path);
	slash = strrchr(path, '/');
	strcpy(to, slash && slash[1] ? slash + 1 : path);
}

/* Where the last 64 hex digits of a text begin; NULL: it has no so many. */
static const char *hex_run(const char *text, size_t n)
{
	size_t run = 0;

	for (const char *p = text + n; p > text; p--) {
		run = isxdigit((unsigned char)p[-1]) ? run + 1 : 0;
		if (run == 64)
			return p - 1;
	}
	return NULL;
}

/* Bytes of the ".service" or ".scope" at its end. */
static size_t unit_end(const char *s, size_t n)
{
	return n > 8 && strncmp(s + n - 8, ".service", 8) == 0 ? 8
	       : n > 6 && strncmp(s + n - 6, ".scope", 6) == 0 ? 6
							       : 0;
}

/* Container managers name the cgroup after the container: 64 hex digits, with or without
 * "docker-", "cri-containerd-" ... before and ".scope" after it. */
static void text_containerid(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	char path[TEXT_MAX];
	const char *id;

	cgroup_path(path);
	id = hex_run(path, strlen(path));
	snprintf(to, TEXT_MAX, "%.64s", id ? id : "");
}

static void text_cgroup(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	cgroup_path(to);
}

/* The innermost container: 12 digits of its id, the name of one of lxc ("lxc.payload.NAME") or of a machine of systemd
 * ("machine-NAME.scope"). Outside containers: the innermost unit of systemd, "NAME.service" or "NAME.scope". */
static void text_container(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	char path[TEXT_MAX], *name;
	size_t n, end;

	cgroup_path(path);
	for (; (name = strrchr(path, '/')); *name = '\0') {
		const char *id;

		n = strlen(name + 1);
		id = hex_run(name + 1, n);
		end = unit_end(name + 1, n);
		if (id)
			snprintf(to, TEXT_MAX, "%.12s", id);
		else if (n > 12 && strncmp(name + 1, "lxc.payload.", 12) == 0)
			snprintf(to, TEXT_MAX, "%s", name + 13);
		else if (end == 6 && n > 14 && strncmp(name + 1, "machine-", 8) == 0)
			snprintf(to, TEXT_MAX, "%.*s", (int)(n - 14), name + 9);
		else {
			if (end && !*to)
				snprintf(to, TEXT_MAX, "%.*s", (int)(n - end), name + 1);
			continue;
		}
		return;
	}
}

static void text_zonename(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	strcpy(to, "global");
}

static void text_jailname(const dt_vm_firing *f __attribute__((unused)), char *to)
{
	strcpy(to, "0");
}

static void text_copy(char *to, const char *s)
{
	snprintf(to, TEXT_MAX, "%s", s ? s : "");
}

static void text_probeprov(const dt_vm_firing *f, char *to)
{
	text_copy(to, f->probe ? f->probe->prov : NULL);
}

static void text_probemod(const dt_vm_firing *f, char *to)
{
	text_copy(to, f->probe ? f->probe->mod : NULL);
}

static void text_probefunc(const dt_vm_firing *f, char *to)
{
	text_copy(to, f->probe ? f->probe->func : NULL);
}

static void text_probename(const dt_vm_firing *f, char *to)
{
	text_copy(to, f->probe ? f->probe->name : NULL);
}

static const struct {
	uint32_t id;
	void (*fill)(const dt_vm_firing *f, char *to);
} texts[] = {
    {DT_VAR_EXECNAME, text_execname},	    {DT_VAR_THREADNAME, text_threadname},
    {DT_VAR_EXECARGS, text_execargs},	    {DT_VAR_CGROUPNAME, text_cgroupname},
    {DT_VAR_CONTAINERID, text_containerid}, {DT_VAR_ZONENAME, text_zonename},
    {DT_VAR_JAILNAME, text_jailname},	    {DT_VAR_PROBEPROV, text_probeprov},
    {DT_VAR_PROBEMOD, text_probemod},	    {DT_VAR_PROBEFUNC, text_probefunc},
    {DT_VAR_PROBENAME, text_probename},	    {DT_VAR_CGROUP, text_cgroup},
    {DT_VAR_CONTAINER, text_container},
};

static uint64_t text(dt_vm *vm, size_t i)
{
	char *slot = vm->texts + i * TEXT_MAX;

	if (!(vm->texts_valid & 1u << i)) {
		memset(slot, 0, TEXT_MAX);
		if (vm->as && texts[i].id == DT_VAR_EXECNAME)
			text_copy(slot, vm->as->name);
		else
			texts[i].fill(vm->fire, slot);
		if (vm->strsize < TEXT_MAX)
			slot[vm->strsize - 1] = '\0';
		vm->texts_valid |= 1u << i;
	}
	return dt_vm_addr(slot);
}

int dt_vm_builtin_init(dt_vm *vm)
{
	vm->texts_size = DT_NELEM(texts) * TEXT_MAX;
	vm->texts = dt_vm_memory(vm->texts_size);
	return vm->texts ? 0 : -1;
}

/* ---- numbers ---- */

/* The inode of a group's directory; beside groups of version 1, those of version 2 are in a folder. */
static uint64_t group_inode(const char *path)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char full[TEXT_MAX + 32];
	struct statfs fs;
	struct stat st;

	for (size_t i = 0; i < DT_NELEM(mounts); i++) {
		if (statfs(mounts[i], &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		snprintf(full, sizeof(full), "%s%s", mounts[i], path);
		return stat(full, &st) == 0 ? st.st_ino : 0;
	}
	return 0;
}

/* The first components of the path, as many as the level says. */
DT_VM_SUBR(CGROUPAT)
{
	char path[TEXT_MAX], *p = path;

	(void)vm, (void)argc;
	cgroup_path(path);
	for (uint64_t level = arg[0].value; level; level--) {
		p += strspn(p, "/");
		if (!*p)
			return 0;
		p += strcspn(p, "/");
	}
	*p = 0;
	return group_inode(path);
}

static uint64_t cgroup_inode(void)
{
	char path[TEXT_MAX];

	cgroup_path(path);
	return group_inode(path);
}

static uint64_t namespace_inode(const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static uint64_t once(uint64_t *cache, clockid_t clock)
{
	if (!*cache)
		*cache = clock_ns(clock);
	return *cache;
}

static uint64_t signed_value(int64_t v)
{
	return (uint64_t)v;
}

uint64_t dt_vm_builtin(dt_vm *vm, uint32_t id)
{
	dt_vm_firing *f = vm->fire;

	for (size_t i = 0; i < DT_NELEM(texts); i++)
		if (texts[i].id == id)
			return text(vm, i);
	switch (id) {
	case DT_VAR_ARG0 ... DT_VAR_ARG9: return f->args[id - DT_VAR_ARG0];
	case DT_VAR_TIMESTAMP: return once(&f->timestamp, CLOCK_MONOTONIC);
	case DT_VAR_WALLTIMESTAMP: return once(&f->walltimestamp, CLOCK_REALTIME);
	case DT_VAR_VTIMESTAMP: return clock_ns(CLOCK_THREAD_CPUTIME_ID);
	case DT_VAR_EPID: return f->epid;
	case DT_VAR_ID: return f->probe ? f->probe->id : 0;
	case DT_VAR_CPU: return f->cpu;
	case DT_VAR_PID:
	case DT_VAR_NSPID: return signed_value(vm->as ? vm->as->pid : getpid());
	case DT_VAR_TID: return signed_value(vm->as ? vm->as->pid : gettid());
	case DT_VAR_PPID: return signed_value(vm->as ? vm->as->parent : getppid());
	case DT_VAR_UID: return vm->as ? vm->as->uid : geteuid();
	case DT_VAR_GID: return getegid();
	case DT_VAR_CGROUPID: return cgroup_inode();
	case DT_VAR_PIDNS: return namespace_inode("pid");
	case DT_VAR_MNTNS: return namespace_inode("mnt");
	case DT_VAR_NETNS: return namespace_inode("net");
	case DT_VAR_USERNS: return namespace_inode("user");
	case DT_VAR_CURTHREAD: /* not available, or no value in this process */
	case DT_VAR_IPL:
	case DT_VAR_STACKDEPTH:
	case DT_VAR_USTACKDEPTH:
	case DT_VAR_CALLER:
	case DT_VAR_UCALLER:
	case DT_VAR_ERRNO:
	case DT_VAR_JID: return 0;
	default: return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	}
}

/* The interpreter is not in the process that is traced. */
void dt_vm_ustack(dt_vm *vm, uint64_t *frames, uint32_t n)
{
	(void)vm, (void)frames, (void)n;
}

uint64_t dt_vm_builtin_array(dt_vm *vm, uint32_t id, uint64_t index)
{
	switch (id) {
	case DT_VAR_ARGS: return index < DT_NELEM(vm->fire->args) ? vm->fire->args[index] : 0;
	case DT_VAR_UREGS:
		return index < dt_arch_host()->nuregs ? 0 : dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	case DT_VAR_REGS:
	case DT_VAR_VMREGS: return 0;
	default: return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	}
}
