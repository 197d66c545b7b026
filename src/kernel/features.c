/*
 * features: see features.h. Features of the kernel are probed; only those that cannot be probed are
 * derived from its version.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "kernel/features.h"
#include "kernel/links.h"

/* Inode of the initial pid namespace (include/linux/proc_ns.h); the same on every kernel. */
#define PROC_PID_INIT_INO 0xEFFFFFFCu

/* In a pid namespace of our own, pids are those that ps shows there. */
static void find_pid_namespace(struct dt_features *f)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == PROC_PID_INIT_INO)
		return;
	f->pidns_ino = st.st_ino;
	f->pidns_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
}

/* An old kernel rejects the cookie, a new one the missing program. */
static bool has_cookies(void)
{
	return dt_link_tracepoint("", -1, 1) < 0 && errno == EBADF;
}

static bool has_btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

static bool has_third_abi(void)
{
	uint32_t third = dt_arch_host()->entry.number_bit;

	return third && syscall((long)(third | SYS_getpid)) > 0;
}

static bool loads(const char *name, const struct bpf_insn *insns, size_t n)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, name, "GPL", insns, n, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool reads_memory(void)
{
	const struct bpf_insn insns[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
	    {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0},
	    {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	    {.code = BPF_JMP | BPF_EXIT},
	};

	return loads("dt_reads", insns, DT_NELEM(insns));
}

/* l: may_goto out; goto l; out: */
static bool has_may_goto(void)
{
	const struct bpf_insn insns[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	    {.code = BPF_JMP | 0xe0, .off = 1},
	    {.code = BPF_JMP | BPF_JA | BPF_K, .off = -2},
	    {.code = BPF_JMP | BPF_EXIT},
	};

	return loads("dt_may_goto", insns, DT_NELEM(insns));
}

/* Cannot be probed, only derived from the version: before, task storage is not found while the CPU
 * is inside it. */
static bool finds_storage(void)
{
	struct utsname u;
	int major_number = 0, minor_number = 0;

	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major_number, &minor_number) == 2 &&
	       (major_number > 6 || (major_number == 6 && minor_number >= 2));
}

/* ---- places in user code ---- */

struct thread {
	int tid, ready[2], done[2];
};

static void *be_a_thread(void *arg)
{
	struct thread *t = arg;
	char c;

	t->tid = (int)syscall(SYS_gettid);
	if (write(t->ready[1], "", 1) == 1 && read(t->done[0], &c, 1) < 0)
		return NULL;
	return NULL;
}

/* Does a link cover a process and all its threads? If so, it refuses the id of a thread (ESRCH);
 * otherwise the kernel goes on to the place, which is far beyond the end of the file. */
static bool takes_processes(int prog)
{
	struct thread t = {.ready = {-1, -1}, .done = {-1, -1}};
	uint64_t far = 1ull << 48;
	pthread_t id;
	bool yes = false;
	char c;

	if (pipe(t.ready) == 0 && pipe(t.done) == 0 &&
	    pthread_create(&id, NULL, be_a_thread, &t) == 0) {
		if (read(t.ready[0], &c, 1) == 1)
			yes = dt_link_uprobes(prog, "/proc/self/exe", &far, NULL, NULL, 1,
					      false, t.tid) < 0 &&
			      errno == ESRCH;
		close(t.done[1]);
		t.done[1] = -1;
		pthread_join(id, NULL);
	}
	for (int i = 0; i < 2; i++) {
		if (t.ready[i] >= 0)
			close(t.ready[i]);
		if (t.done[i] >= 0)
			close(t.done[i]);
	}
	return yes;
}

static bool has_uprobe_multi(void)
{
	int prog = dt_link_nothing(DT_BPF_TRACE_UPROBE_MULTI);
	uint64_t zero = 0;
	bool yes;

	if (prog < 0)
		return false;
	/* a directory cannot have probes: a kernel that supports such links says so */
	yes = dt_link_uprobes(prog, "/", &zero, NULL, NULL, 1, false, 0) < 0 && errno == EBADF &&
	      takes_processes(prog);
	close(prog);
	return yes;
}

/* ---- answers ---- */

bool dt_feature(const struct dt_features *f, enum dt_feature which)
{
	static bool (*const try[DT_FEATURES])(void) = {
	    [DT_FEATURE_BTF] = has_btf,
	    [DT_FEATURE_READS] = reads_memory,
	    [DT_FEATURE_COMPAT] = dt_has_compat_syscalls,
	    [DT_FEATURE_THIRD_ABI] = has_third_abi,
	    [DT_FEATURE_STORAGE] = finds_storage,
	    [DT_FEATURE_COOKIES] = has_cookies,
	    [DT_FEATURE_UPROBE_MULTI] = has_uprobe_multi,
	    [DT_FEATURE_MAY_GOTO] = has_may_goto,
	};

	if (f->answers[which] == DT_ANSWER_UNKNOWN)
		f->answers[which] = try[which]() ? DT_ANSWER_YES : DT_ANSWER_NO;
	return f->answers[which] == DT_ANSWER_YES;
}

void dt_features_find(struct dt_features *f, dt_arena *arena, bool functions, dt_types *ts)
{
	*f = (struct dt_features){.answers = dt_arena_alloc(arena, DT_FEATURES)};
	find_pid_namespace(f);
	if (functions)
		dt_ktrace_probe(&f->functions, ts);
}
