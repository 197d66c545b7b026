/*
 * intrude: getting into a process. All threads are stopped by ptrace while its memory is changed.
 *
 * System calls that one of its threads makes for us (arch/remote.h) map the runtime, memory near its code for stubs, and memory
 * that is shared with us. Their code is in the vdso, where nothing is: the kernel maps that in every process. What is mapped is
 * noted in memory that we share with the keeper (struct dt_pe_remains), before it is mapped: we choose the addresses.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "arch/remote.h"
#include "arch/trap.h"
#include "elf/elf.h"
#include "process/process.h"

#define PAGE	    4096ull
#define VDSO_MAX    16384
#define LOW	    0x100000000000ull /* addresses that programs hardly ever use ... */
#define TRIES	    16
#define RSEQ_CPU    4 /* struct rseq: cpu_id */

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static uint64_t page_up(uint64_t n)
{
	return dt_align_up(n, PAGE);
}

/* ---- memory and system calls of the process ---- */

bool dt_pe_write(const struct dt_pe_target *t, uint64_t at, const void *p, size_t n)
{
	return pwrite(t->mem, p, n, (off_t)at) == (ssize_t)n;
}

size_t dt_pe_read(const struct dt_pe_target *t, uint64_t at, void *p, size_t n)
{
	ssize_t got = pread(t->mem, p, n, (off_t)at);

	return got > 0 ? (size_t)got : 0;
}

/* Not one in a restartable sequence: if it runs anything else, the kernel forgets to restart it. Nor one with a shadow stack,
 * if there is another: if we are killed, the CPU does not let it return to where it was. */
static struct dt_held_thread *find_caller(const struct dt_pe_target *t)
{
	struct dt_held_thread *any = NULL;
	struct dt_trap_regs regs;

	for (uint32_t i = 0; t->hold && i < t->hold->threads.n; i++) {
		struct dt_held_thread *x = &t->hold->threads.v[i];

		if (!x->stopped || dt_trap_regs(x->tid, &regs) < 0 || regs.narrow || dt_pe_in_sequence(t, x->tid, regs.pc))
			continue;
		if (!x->signal && !dt_trap_shadowed(x->tid))
			return x;
		any = x;
	}
	return any;
}

bool dt_pe_can_call(const struct dt_pe_target *t)
{
	return find_caller(t) != NULL;
}

long dt_pe_syscall(const struct dt_pe_target *t, long number, const uint64_t args[6])
{
	struct dt_held_thread *x = find_caller(t);
	long rc;

	if (!x)
		return -ESRCH;
	rc = dt_remote_call(&(struct dt_remote){t->mem, t->in->code}, x->tid, x->signal, number, args);
	x->signal = 0;
	return rc;
}

static long call(const struct dt_pe_target *t, long number, uint64_t a, uint64_t b, uint64_t c)
{
	return dt_pe_syscall(t, number, (uint64_t[6]){a, b, c});
}

bool dt_pe_map(const struct dt_pe_target *t, uint64_t at, uint64_t size)
{
	const uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	return (uint64_t)dt_pe_syscall(t, SYS_mmap, (uint64_t[6]){at, size, PROT_READ | PROT_EXEC, flags, (uint64_t)-1}) == at;
}

/* Addresses that programs hardly ever use; another one each time. */
static uint64_t some_address(uint64_t *seed)
{
	*seed = (*seed ? *seed : dt_now()) * 0x5851f42d4c957f2du + 0x9e3779b97f4a7c15u;
	return LOW + (*seed >> 20) % (2 * LOW) / PAGE * PAGE;
}

/* The last bytes that are zero and stay so: the end of the file, or the first section. n: nowhere. */
static size_t find_room(const uint8_t *bytes, size_t n)
{
	size_t zeros = 0;

	for (size_t i = n; i-- > 0;) {
		zeros = bytes[i] ? 0 : zeros + 1;
		if (zeros >= DT_REMOTE_CODE && i % 4 == 0)
			return i;
	}
	return n;
}

/* The kernel's own code in every process, and where it reads the clock. */
static bool find_vdso(struct dt_pe_target *t, const dt_maps *maps, uint64_t *clock)
{
	const dt_mapping *m = NULL;
	const dt_elfsym *s;
	uint8_t *bytes;
	dt_error err;
	dt_elf *elf;
	size_t n;

	for (uint32_t i = 0; i < maps->n; i++)
		if (maps->v[i].kind == DT_MAP_VDSO)
			m = &maps->v[i];
	if (!m)
		return false;
	bytes = dt_xmalloc(VDSO_MAX);
	n = dt_pe_read(t, m->start, bytes, m->end - m->start < VDSO_MAX ? m->end - m->start : VDSO_MAX);
	elf = dt_elf_open_memory(bytes, n, &err);
	s = elf ? dt_elf_function_named(elf, "__vdso_clock_gettime") : NULL;
	*clock = s ? m->start + s->vaddr : 0;
	dt_elf_free(elf);
	free(bytes);
	t->in->vdso = m->start;
	t->in->vdso_size = m->end - m->start;
	return true;
}

/* Where there is room for ours. The process is stopped: another dtrace may want the same. 0: nowhere. */
static uint64_t find_code(const struct dt_pe_target *t)
{
	uint64_t size = t->in->vdso_size;
	uint8_t bytes[VDSO_MAX];
	size_t n = dt_pe_read(t, t->in->vdso, bytes, size < VDSO_MAX ? size : VDSO_MAX), at = find_room(bytes, n);

	return at == n ? 0 : t->in->vdso + at;
}

/* ---- the thread's id ---- */

/* The C library keeps it near the thread pointer: GNU, musl. */
static uint32_t find_tid(const struct dt_pe_target *t)
{
	static const uint32_t places[] = {0x2d0, 0x30};

	for (size_t k = 0; k < DT_NELEM(places); k++) {
		bool all = t->hold->threads.n > 0;

		for (uint32_t i = 0; all && i < t->hold->threads.n; i++) {
			const struct dt_held_thread *x = &t->hold->threads.v[i];
			struct dt_trap_regs regs = {0};
			uint32_t word = 0;

			all = x->stopped && dt_trap_regs(x->tid, &regs) == 0 && regs.thread &&
			      dt_pe_read(t, regs.thread + places[k], &word, sizeof(word)) == sizeof(word) && word == (uint32_t)x->tid;
		}
		if (all)
			return places[k];
	}
	return 0;
}

/* The kernel keeps the number of the CPU in memory that the C library gives it for each thread, at the same distance. */
static int32_t find_cpu(const struct dt_pe_target *t)
{
	int64_t at = 0;

	for (uint32_t i = 0; i < t->hold->threads.n; i++) {
		const struct dt_held_thread *x = &t->hold->threads.v[i];
		uint64_t rseq = x->stopped ? dt_pe_rseq(x->tid) : 0;
		struct dt_trap_regs regs = {0};
		int64_t here;

		if (!rseq || dt_trap_regs(x->tid, &regs) < 0 || !regs.thread)
			return 0;
		here = (int64_t)(rseq + RSEQ_CPU - regs.thread);
		if (here != (int32_t)here || (at && here != at))
			return 0;
		at = here;
	}
	return (int32_t)at;
}

/* ---- in ---- */

bool dt_pe_target_init(struct dt_pe_target *t, struct dt_pe_memory *shared, dt_pe_places *places)
{
	void *in = mmap(NULL, sizeof(*t->in), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*t = (struct dt_pe_target){.mem = -1, .in = in == MAP_FAILED ? NULL : in, .shared = shared, .places = places};
	pthread_mutex_init(&t->tracing, NULL);
	return t->in != NULL;
}

void dt_pe_target_free(struct dt_pe_target *t)
{
	if (t->in)
		munmap(t->in, sizeof(*t->in));
}


static int refuse(const struct dt_pe_target *t, dt_error *err, const char *why)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: pid %ld: %s", t->pid, why);
}

/* Are the system calls of a thread restricted? Each can be for itself. */
static bool is_restricted(long pid)
{
	bool restricted = dt_proc_status(pid, "Seccomp:") > 0;
	struct dirent *x;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	dir = opendir(path);
	while (!restricted && dir && (x = readdir(dir)))
		restricted = strtol(x->d_name, NULL, 10) > 0 && dt_proc_status(strtol(x->d_name, NULL, 10), "Seccomp:") > 0;
	if (dir)
		closedir(dir);
	return restricted;
}

/* What we map is counted. Do mappings of the process have a limit, which it may need for its own? */
static bool is_limited(long pid)
{
	struct rlimit most = {0};

	return prlimit((pid_t)pid, RLIMIT_AS, NULL, &most) < 0 || most.rlim_cur != RLIM_INFINITY;
}

/* With this setting the kernel promises only memory that it has. A page that is then missing at its first use ends the process. */
static bool counts_memory(void)
{
	size_t n = 0;
	char *text = dt_slurp(-1, "/proc/sys/vm/overcommit_memory", &n);
	bool counts = text && n && text[0] == '2';

	free(text);
	return counts;
}

static bool is_narrow(long pid)
{
	unsigned char head[EI_NIDENT] = {0};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, head, sizeof(head)) != sizeof(head))
		head[EI_CLASS] = 0;
	close(fd);
	return head[EI_CLASS] != ELFCLASS64;
}

/* What can be known before it is stopped. */
static int check_process(const struct dt_pe_target *t, dt_error *err)
{
	if (is_narrow(t->pid))
		return refuse(t, err, "it is a 32-bit program");
	if (is_restricted(t->pid))
		return refuse(t, err, "its system calls are restricted (seccomp), and the runtime needs some");
	if (dt_proc_inner_pid(t->pid) != t->pid)
		return refuse(t, err, "it is in another pid namespace");
	if (is_limited(t->pid))
		return refuse(t, err, "its address space is limited (ulimit -v), and may be too small for it then");
	if (counts_memory())
		return refuse(t, err, "the kernel promises no memory that it may not have (vm.overcommit_memory is 2): the process could be ended");
	return 0;
}

static int check_threads(const struct dt_pe_target *t, dt_error *err)
{
	for (uint32_t i = 0; i < t->hold->threads.n; i++)
		if (t->hold->threads.v[i].stopped && dt_trap_shadowed(t->hold->threads.v[i].tid))
			return refuse(t, err, "it has a shadow stack: if dtrace was killed at the wrong moment, it would be ended");
	return dt_pe_can_call(t) ? 0 : refuse(t, err, "it cannot be stopped by ptrace");
}

static int put_runtime(struct dt_pe_target *t, dt_error *err)
{
	struct dt_pe_remains *in = t->in;
	uint64_t seed = 0;
	long locked = dt_proc_status(t->pid, "VmLck:");
	bool ok = false;

	in->base_size = DT_PE_ANCHOR_SIZE + page_up(dt_pe_runtime_size) + DT_PE_CODE_MAX;
	for (int i = 0; i < TRIES && !ok; i++) {
		in->base = some_address(&seed);
		ok = dt_pe_map(t, in->base, in->base_size);
	}
	if (!ok)
		in->base = 0;
	if (!ok)
		return refuse(t, err, "it cannot map the runtime");
	if (dt_proc_status(t->pid, "VmLck:") != locked)
		return refuse(t, err, "it locks all memory that it maps (mlockall), and this would be too much");
	if (!dt_pe_write(t, in->base + DT_PE_ANCHOR_SIZE, dt_pe_runtime, dt_pe_runtime_size) ||
	    call(t, SYS_mprotect, in->base, DT_PE_ANCHOR_SIZE, PROT_READ | PROT_WRITE) < 0 ||
	    call(t, SYS_madvise, in->base, DT_PE_ANCHOR_SIZE, MADV_WIPEONFORK) < 0)
		return refuse(t, err, "its memory cannot be written");
	return 0;
}

uint64_t dt_pe_target_code_at(const struct dt_pe_target *t)
{
	return t->in->base + t->in->base_size - DT_PE_CODE_MAX;
}

bool dt_pe_target_code(const struct dt_pe_target *t, const uint8_t *code, size_t from, size_t to)
{
	return from == to || dt_pe_write(t, dt_pe_target_code_at(t) + from, code + from, to - from);
}

/* The file is the target's, and open in us by then. It must not shrink under us. */
static int share_file(struct dt_pe_target *t, int remote, uint64_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", t->pid, remote);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool map_both(struct dt_pe_target *t, int fd, int remote, uint64_t size)
{
	const uint64_t prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE;
	struct dt_pe_memory *m = t->shared;
	uint64_t seed = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t at = some_address(&seed);
		void *ours = mmap((void *)(uintptr_t)at, size, (int)prot, (int)flags, fd, 0);

		if (ours == MAP_FAILED)
			continue;
		t->in->shared_size = size;
		t->in->shared = at;
		if ((uint64_t)(uintptr_t)ours == at &&
		    (uint64_t)dt_pe_syscall(t, SYS_mmap, (uint64_t[6]){at, size, prot, flags, (uint64_t)remote, 0}) == at) {
			m->base = ours;
			m->size = size;
			call(t, SYS_madvise, at, size, MADV_DONTFORK);
			call(t, SYS_madvise, at, size, MADV_DONTDUMP);
			return true;
		}
		t->in->shared = 0;
		munmap(ours, size);
	}
	return false;
}

static int put_shared(struct dt_pe_target *t, uint64_t size, dt_error *err)
{
	char name[sizeof(t->in->name)];
	long remote;
	int fd;
	bool ok;

	snprintf(name, sizeof(name), "dtrace-%ld", (long)getpid());
	memcpy(t->in->name, name, sizeof(name));
	if (!dt_pe_write(t, t->in->base, name, sizeof(name)))
		return refuse(t, err, "its memory cannot be written");
	remote = call(t, SYS_memfd_create, t->in->base, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);
	if (remote < 0)
		return refuse(t, err, "it cannot create shared memory");
	fd = share_file(t, (int)remote, size);
	ok = fd >= 0 && map_both(t, fd, (int)remote, size);
	call(t, SYS_close, (uint64_t)remote, 0, 0);
	if (fd >= 0)
		close(fd);
	return ok ? 0 : refuse(t, err, "it cannot map memory to share");
}

/* The process is stopped. No pause while it has the descriptor of the file: it could close that itself. */
static int enter(struct dt_pe_target *t, uint64_t size, struct dt_pe_anchor *a, dt_error *err)
{
	if (check_threads(t, err) < 0)
		return -1;
	t->in->code = find_code(t);
	if (!t->in->code || !dt_pe_write(t, t->in->code, dt_remote_code, DT_REMOTE_CODE))
		return refuse(t, err, "the code of the kernel (vdso) cannot be changed");
	if (put_runtime(t, err) < 0)
		return -1;
	if (dt_pe_breathe(t))
		return refuse(t, err, "it cannot be stopped");
	if (put_shared(t, page_up(size), err) < 0)
		return -1;
	a->tid_at = find_tid(t);
	a->cpu_at = find_cpu(t);
	a->shared = (struct dt_pe_shared *)(void *)t->shared->base;
	return dt_pe_write(t, t->in->base, a, sizeof(*a)) ? 0 : refuse(t, err, "its memory cannot be written");
}

int dt_pe_target_enter(struct dt_pe_target *t, const dt_maps *maps, uint64_t size, dt_error *err)
{
	struct dt_pe_anchor a = {.pid = (int32_t)t->pid};
	char path[64];
	int rc;

	if (check_process(t, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/mem", t->pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem < 0)
		return refuse(t, err, strerror(errno));
	if (!find_vdso(t, maps, &a.clock))
		return refuse(t, err, "it has no code of the kernel (vdso) that can be changed");
	rc = dt_pe_stop(t, DT_PE_TRIES);
	if (rc)
		return refuse(t, err, rc == EBUSY ? "another process runs in its memory, or it does not stop" : "it cannot be stopped by ptrace");
	rc = enter(t, page_up(size), &a, err);
	dt_pe_go_on(t);
	return rc;
}
