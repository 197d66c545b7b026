/*
 * family: option follow. A probe in a process is a probe in its descendants, too.
 *
 * Waiting for the tracer to hear of a fork would lose what the child does first, and attaching to
 * every child anew takes longer than many of them live. So with this option places in user code
 * are attached for all processes, and programs ask who it is that came: a map has every process of
 * the family and whom it descends from, kept up to date by two small programs in the kernel:
 *
 *	sched_process_fork	if (we are in family) family[child] = family[we]
 *	sched_process_free	delete family[it]
 *
 * Pids are the kernel's own here. In a pid namespace of our own we do not know those, so there the processes that
 * we name are entered by their number in the namespace, with a mark. Their children have the kernel's, and
 * entries with a mark are deleted by us, when we are told that a process has ended (dt_family_disown).
 */
#include <bpf/bpf.h>
#include <errno.h>

#include "bpf/image.h"

#define FAMILY_SIZE 65536

#define OURS 0x80000000u /* in a key: a number of our namespace */

enum { KEY = -4, ROOT = -8, IDS = -16 }; /* on the stack */

static void stack_address(dt_code *c, int reg, int at)
{
	mov(c, reg, R10);
	alui(c, BPF_ADD, reg, at);
}

/* *(u64 *)ids = pid and tgid of the task that is argument n; goto out if it is a thread of
 * another's process */
static void read_ids(dt_code *c, int n, uint32_t pid_offset, uint32_t out)
{
	ld(c, 8, R3, R7, n * 8);
	alui(c, BPF_ADD, R3, (int32_t)pid_offset);
	stack_address(c, R1, IDS);
	movi(c, R2, 8);
	helper(c, BPF_FUNC_probe_read_kernel);
	ld(c, 4, R1, R10, IDS);
	ld(c, 4, R2, R10, IDS + 4);
	jmp(c, BPF_JNE, R1, R2, out);
	st(c, 4, R10, KEY, R1);
}

/* r0 = the process that the one with number *(u32 *)key descends from; goto none: not of any family */
static void look_up(const dt_engine *e, dt_code *c, uint32_t none)
{
	map(c, R1, e->fd_family);
	stack_address(c, R2, KEY);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
	ld(c, 4, R0, R0, 0);
}

/* The same for the current process. */
static void look_up_current(const dt_engine *e, dt_code *c, uint32_t none)
{
	uint32_t ours = dt_code_label(c), found = dt_code_label(c);

	helper(c, BPF_FUNC_get_current_pid_tgid);
	alui(c, BPF_RSH, R0, 32);
	st(c, 4, R10, KEY, R0);
	if (!e->pidns_ino) {
		look_up(e, c, none);
		return;
	}
	look_up(e, c, ours);
	ja(c, found);
	dt_code_place(c, ours);
	sti(c, 8, R10, IDS, 0);
	movq(c, R1, e->pidns_dev);
	movq(c, R2, e->pidns_ino);
	stack_address(c, R3, IDS);
	movi(c, R4, 8);
	helper(c, BPF_FUNC_get_ns_current_pid_tgid);
	ld(c, 4, R1, R10, IDS + 4);
	movi(c, R2, 1);
	alui(c, BPF_LSH, R2, 31);
	alu(c, BPF_OR, R1, R2);
	st(c, 4, R10, KEY, R1);
	look_up(e, c, none);
	dt_code_place(c, found);
}

static void fork_code(dt_engine *e, dt_code *c, uint32_t pid_offset)
{
	uint32_t out = dt_code_label(c);

	mov(c, R7, R1);
	look_up_current(e, c, out);
	st(c, 4, R10, ROOT, R0);
	read_ids(c, 1, pid_offset, out);
	map(c, R1, e->fd_family);
	stack_address(c, R2, KEY);
	stack_address(c, R3, ROOT);
	movi(c, R4, BPF_ANY);
	helper(c, BPF_FUNC_map_update_elem);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
}

static void free_code(dt_engine *e, dt_code *c, uint32_t pid_offset)
{
	uint32_t out = dt_code_label(c);

	mov(c, R7, R1);
	read_ids(c, 0, pid_offset, out);
	map(c, R1, e->fd_family);
	stack_address(c, R2, KEY);
	helper(c, BPF_FUNC_map_delete_elem);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
}

static int load(dt_engine *e, const char *event, void (*code)(dt_engine *, dt_code *, uint32_t),
		dt_error *err)
{
	dt_code c = {0};
	dt_tr t = {.e = e, .c = &c, .err = err};
	uint32_t pid_offset;
	int fd = -1, link;

	dt_code_func_begin(&c, dt_code_func_new(&c, "dtrace"));
	if (dt_tr_field(&t, "task_struct", "pid", &pid_offset) == 0) { /* tgid lies behind it */
		code(e, &c, pid_offset);
		if (dt_code_finish(&c) == 0)
			fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "dtrace_family",
					   "Dual BSD/GPL", c.insns.v, c.insns.n, NULL);
		if (fd < 0)
			dt_load_error(err, "load a program into");
	}
	dt_code_free(&c);
	if (fd < 0)
		return -1;
	*dt_vec_add(&e->fds, NULL) = fd;
	link = bpf_raw_tracepoint_open(event, fd);
	if (link < 0)
		return dt_load_error(err, "attach to the scheduler of");
	dt_attach_keep(e, link);
	return 0;
}

int dt_family_make(dt_engine *e, dt_error *err)
{
	if (e->follows)
		e->fd_family = dt_kmap_make(e, BPF_MAP_TYPE_HASH, "dt_family", 4, 4, FAMILY_SIZE,
					    BPF_F_NO_PREALLOC, err);
	return e->follows && e->fd_family < 0 ? -1 : 0;
}

int dt_family_attach(dt_engine *e, dt_error *err)
{
	if (!e->follows)
		return 0;
	return load(e, "sched_process_free", free_code, err) < 0 ||
		       load(e, "sched_process_fork", fork_code, err) < 0
		   ? -1
		   : 0;
}

static uint32_t key_of(const dt_engine *e, long pid)
{
	return (uint32_t)pid | (e->pidns_ino ? OURS : 0);
}

/* A process whose probes there are. */
void dt_family_root(dt_engine *e, uint32_t pid)
{
	uint32_t key = key_of(e, pid);

	if (e->follows && pid)
		bpf_map_update_elem(e->fd_family, &key, &pid, BPF_NOEXIST);
}

/* A child that was there before us: as its parent. */
void dt_family_adopt(dt_engine *e, long pid, long parent)
{
	uint32_t key = key_of(e, pid), root = key_of(e, parent);

	if (pid == parent)
		dt_family_root(e, (uint32_t)pid);
	else if (e->follows && bpf_map_lookup_elem(e->fd_family, &root, &root) == 0)
		bpf_map_update_elem(e->fd_family, &key, &root, BPF_NOEXIST);
}

/* One that has ended. Those without a mark are the kernel's affair: by now the number may be another's. */
void dt_family_disown(dt_engine *e, long pid)
{
	uint32_t key = key_of(e, pid);

	if (e->follows && e->pidns_ino)
		bpf_map_delete_elem(e->fd_family, &key);
}

/* In a program: is the process with number r0 of the family of the one in r8->pid? */
void dt_tr_family_check(dt_tr *t, int pid_at, uint32_t no)
{
	dt_code *c = t->c;
	uint32_t yes = dt_code_label(c);

	ld(c, 4, R1, R8, pid_at);
	jmp(c, BPF_JEQ, R0, R1, yes);
	if (!t->e->follows) {
		ja(c, no);
	} else {
		look_up_current(t->e, c, no);
		ld(c, 4, R1, R8, pid_at);
		jmp(c, BPF_JNE, R0, R1, no);
	}
	dt_code_place(c, yes);
}
