/*
 * tr_family: option follow. A probe in a process is also a probe in its descendants.
 *
 * Waiting for the tracer to learn of a fork would lose what the child does first, and attaching to
 * every child takes longer than many of them live. So with this option places in user code are
 * attached for all processes, and programs look up the process: a map has every process of the
 * family and its ancestor, and is kept up to date by two small programs in the kernel:
 *
 *	sched_process_fork	if (we are in family) family[child] = family[we] else delete family[child]
 *	sched_process_free	delete family[it]
 *
 * The end of a process can be missed: the second one runs in whatever process has the CPU, and there
 * are kernels that do not run programs in some of them (thread.c). So an entry for the number of a
 * new process is of one that has ended.
 *
 * Pids here are those of the initial pid namespace. In another namespace this process does not know
 * those, so the processes that it adds are entered by their number in the namespace, with a mark
 * (DT_FAMILY_OURS). Their children have the kernel's numbers; entries with a mark are deleted by
 * this process when a process has ended (dt_family_disown).
 */
#include "bpf/translate/translate.h"

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
static void look_up(dt_tr *t, uint32_t none)
{
	dt_code *c = t->c;

	map(c, R1, t->maps->family);
	stack_address(c, R2, KEY);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
	ld(c, 4, R0, R0, 0);
}

/* The same for the current process. */
static void look_up_current(dt_tr *t, uint32_t none)
{
	dt_code *c = t->c;
	uint32_t ours = dt_code_label(c), found = dt_code_label(c);

	helper(c, BPF_FUNC_get_current_pid_tgid);
	alui(c, BPF_RSH, R0, 32);
	st(c, 4, R10, KEY, R0);
	if (!t->plan->features.pidns_ino) {
		look_up(t, none);
		return;
	}
	look_up(t, ours);
	ja(c, found);
	dt_code_place(c, ours);
	sti(c, 8, R10, IDS, 0);
	movq(c, R1, t->plan->features.pidns_dev);
	movq(c, R2, t->plan->features.pidns_ino);
	stack_address(c, R3, IDS);
	movi(c, R4, 8);
	helper(c, BPF_FUNC_get_ns_current_pid_tgid);
	ld(c, 4, R1, R10, IDS + 4);
	movi(c, R2, 1);
	alui(c, BPF_LSH, R2, 31);
	alu(c, BPF_OR, R1, R2);
	st(c, 4, R10, KEY, R1);
	look_up(t, none);
	dt_code_place(c, found);
}

static int begin(dt_tr *t, uint32_t *pid_offset)
{
	dt_code_func_begin(t->c, dt_code_func_new(t->c, "dtrace"));
	return dt_tr_field(t, "task_struct", "pid", pid_offset); /* tgid is after it */
}

/* delete family[the process that is argument n] */
static void forget(dt_tr *t, int n, uint32_t pid_offset, uint32_t out)
{
	read_ids(t->c, n, pid_offset, out);
	map(t->c, R1, t->maps->family);
	stack_address(t->c, R2, KEY);
	helper(t->c, BPF_FUNC_map_delete_elem);
}

int dt_tr_family_fork(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t out = dt_code_label(c), stranger = dt_code_label(c), pid_offset;

	if (begin(t, &pid_offset) < 0)
		return -1;
	mov(c, R7, R1);
	look_up_current(t, stranger);
	st(c, 4, R10, ROOT, R0);
	read_ids(c, 1, pid_offset, out);
	map(c, R1, t->maps->family);
	stack_address(c, R2, KEY);
	stack_address(c, R3, ROOT);
	movi(c, R4, BPF_ANY);
	helper(c, BPF_FUNC_map_update_elem);
	ja(c, out);
	dt_code_place(c, stranger);
	forget(t, 1, pid_offset, out);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
	return 0;
}

int dt_tr_family_free(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t out = dt_code_label(c), pid_offset;

	if (begin(t, &pid_offset) < 0)
		return -1;
	mov(c, R7, R1);
	forget(t, 0, pid_offset, out);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
	return 0;
}

/* In a program: is the process with number r0 of the family of the one in r8->pid? */
void dt_tr_family_check(dt_tr *t, int pid_at, uint32_t no)
{
	dt_code *c = t->c;
	uint32_t yes = dt_code_label(c);

	ld(c, 4, R1, R8, pid_at);
	jmp(c, BPF_JEQ, R0, R1, yes);
	if (!t->plan->follows) {
		ja(c, no);
	} else {
		look_up_current(t, no);
		ld(c, 4, R1, R8, pid_at);
		jmp(c, BPF_JNE, R0, R1, no);
	}
	dt_code_place(c, yes);
}
