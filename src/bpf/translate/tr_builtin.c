/*
 * tr_builtin: built-in variables.
 *
 * What the kernel has a helper for is one call. What only its data structures tell (ppid,
 * namespaces, cgroup names) is a walk from the current task along members whose offsets come from
 * the kernel's own type information, which is read when a program names such a variable and not
 * before. Values that cost something and cannot change (timestamp, execname, registers of the
 * system call) are had once per firing and kept in the slot.
 */
#include <stdio.h>

#include <errno.h>

#include "arch/arch.h"
#include "bpf/translate/translate.h"

/* ---- walks ---- */

bool dt_tr_find_field(const dt_plan *plan, const char *type, const char *path, uint32_t *offset)
{
	dt_types *ts = plan->types;
	dt_type *s = ts ? dt_type_lookup(ts, "vmlinux", DT_NS_STRUCT, type) : NULL;
	char part[64];
	uint64_t bits, sum = 0;

	for (const char *p = path; s && *p;) {
		size_t n = strcspn(p, ".");
		const dt_member *m;

		snprintf(part, sizeof(part), "%.*s", (int)n, p);
		m = dt_type_member(ts, s, part, &bits);
		if (!m) {
			s = NULL;
			break;
		}
		sum += bits / 8;
		s = dt_type_resolve(m->type);
		p += n + (p[n] == '.');
	}
	*offset = (uint32_t)sum;
	return s != NULL;
}

int dt_tr_field(dt_tr *t, const char *type, const char *path, uint32_t *offset)
{
	if (dt_tr_find_field(t->plan, type, path, offset))
		return 0;
	dt_tr_fail(t, "this kernel's type information has no struct %s member %s%s", type, path,
		   t->plan->features.btf ? "" : " (there is no /sys/kernel/btf/vmlinux)");
	return -1;
}

struct hop {
	const char *type, *member;
	uint32_t size; /* of what is read there; 0: its address is the value */
};

void dt_tr_task(dt_tr *t, bool trusted)
{
	if (!t->task_arg) {
		helper(t->c, trusted ? BPF_FUNC_get_current_task_btf : BPF_FUNC_get_current_task);
		return;
	}
	ld(t->c, 8, R0, R7, (int)(t->task_arg - 1) * 8);
	if (!trusted) { /* through memory: an address becomes a number */
		st(t->c, 8, R6, S_SELF, R0);
		ld(t->c, 8, R0, R6, S_SELF);
	}
}

static const struct hop ppid_hops[] = {{"task_struct", "real_parent", 8},
				       {"task_struct", "tgid", 4}},
			uid_hops[] = {{"task_struct", "cred", 8}, {"cred", "euid", 4}},
			gid_hops[] = {{"task_struct", "cred", 8}, {"cred", "egid", 4}},
			pidns_hops[] = {{"task_struct", "nsproxy", 8},
					{"nsproxy", "pid_ns_for_children", 8},
					{"pid_namespace", "ns.inum", 4}},
			mntns_hops[] = {{"task_struct", "nsproxy", 8},
					{"nsproxy", "mnt_ns", 8},
					{"mnt_namespace", "ns.inum", 4}},
			netns_hops[] = {{"task_struct", "nsproxy", 8},
					{"nsproxy", "net_ns", 8},
					{"net", "ns.inum", 4}},
			userns_hops[] = {{"task_struct", "cred", 8},
					 {"cred", "user_ns", 8},
					 {"user_namespace", "ns.inum", 4}},
			cgroup_hops[] = {{"task_struct", "cgroups", 8},
					 {"css_set", "dfl_cgrp", 8},
					 {"cgroup", "kn", 8},
					 {"kernfs_node", "name", 8}},
			cgroup_id_hops[] = {{"task_struct", "cgroups", 8},
					    {"css_set", "dfl_cgrp", 8},
					    {"cgroup", "kn", 8},
					    {"kernfs_node", "id", 8}},
			pid_hops[] = {{"task_struct", "pid", 8}}, /* tgid lies behind it */
    args_hops[] = {{"task_struct", "mm", 8}, {"mm_struct", "arg_start", 8}},
			args_end_hops[] = {{"task_struct", "mm", 8}, {"mm_struct", "arg_end", 8}},
			leader_hops[] = {{"task_struct", "group_leader", 8}};

/* The same by pointers that the kernel knows the type of. */
static void walk_typed(dt_tr *t, const struct hop *hops, size_t n)
{
	uint32_t off;

	dt_tr_task(t, true);
	for (size_t i = 0; i < n; i++) {
		if (dt_tr_field(t, hops[i].type, hops[i].member, &off) < 0)
			return;
		ld(t->c, hops[i].size, R0, R0, (int)off);
	}
	st(t->c, 8, R6, S_SELF, R0); /* a number from now on */
	ld(t->c, 8, R0, R6, S_SELF);
}

/* r0 = the last member; 0 when a pointer on the way cannot be followed. */
static void walk(dt_tr *t, const struct hop *hops, size_t n)
{
	dt_code *c = t->c;
	uint32_t off;

	if (t->loads->trusts && hops != pid_hops) {
		walk_typed(t, hops, n);
		return;
	}
	dt_tr_task(t, false);
	for (size_t i = 0; i < n; i++) {
		if (dt_tr_field(t, hops[i].type, hops[i].member, &off) < 0)
			return;
		mov(c, R3, R0);
		alui(c, BPF_ADD, R3, (int32_t)off);
		if (!hops[i].size) {
			mov(c, R0, R3);
			continue;
		}
		dt_tr_peek(t, hops[i].size);
	}
}

static const struct {
	uint32_t id;
	const struct hop *hops;
	size_t n;
} walks[] = {
    {DT_VAR_UID, uid_hops, DT_NELEM(uid_hops)},
    {DT_VAR_GID, gid_hops, DT_NELEM(gid_hops)},
    {DT_VAR_PIDNS, pidns_hops, DT_NELEM(pidns_hops)},
    {DT_VAR_MNTNS, mntns_hops, DT_NELEM(mntns_hops)},
    {DT_VAR_NETNS, netns_hops, DT_NELEM(netns_hops)},
    {DT_VAR_USERNS, userns_hops, DT_NELEM(userns_hops)},
};

/* ---- the process ---- */

/* For the process the way goes through task->signal; for the thread, pidof() is led by a pointer to the task:
 * *(&task + 0) + thread_pid. */
void dt_tr_pid_of(dt_tr *t, bool thread)
{
	uint32_t at = dt_tr_sub_args(t, "pidof"), thread_pid;
	dt_code *c = t->c;

	if (dt_tr_field(t, "task_struct", "thread_pid", &thread_pid) < 0)
		return;
	st(c, 8, R6, (int)at, R0);
	st(c, 8, R6, S_SELF, R0);
	if (dt_tr_pidns_args(t, at) < 0)
		return;
	if (thread) {
		dt_slot_lea(c, R0, S_SELF);
		st(c, 8, R6, (int)at, R0);
		sti(c, 8, R6, (int)at + 8, 0);
		sti(c, 8, R6, (int)at + 16, (int32_t)thread_pid);
	}
	dt_tr_sub_run(t, "pidof");
}

/* The same two numbers of a thread that is not the current one. */
static void pid_tgid_of_task(dt_tr *t)
{
	dt_code *c = t->c;

	if (!t->plan->features.pidns_ino) {
		walk(t, pid_hops, DT_NELEM(pid_hops));
		return;
	}
	dt_tr_task(t, false);
	dt_tr_pid_of(t, false);
	st(c, 8, R6, S_VALUE, R0);
	dt_tr_task(t, false);
	dt_tr_pid_of(t, true);
	ld(c, 8, R1, R6, S_VALUE);
	alui(c, BPF_LSH, R1, 32);
	alu(c, BPF_OR, R0, R1);
}

void dt_tr_thread_id(dt_tr *t)
{
	if (t->task_arg)
		walk(t, pid_hops, DT_NELEM(pid_hops));
	else
		helper(t->c, BPF_FUNC_get_current_pid_tgid);
}

void dt_tr_pid_tgid(dt_tr *t)
{
	dt_code *c = t->c;

	if (t->task_arg) {
		pid_tgid_of_task(t);
		return;
	}
	if (!t->plan->features.pidns_ino) {
		helper(c, BPF_FUNC_get_current_pid_tgid);
		return;
	}
	/* struct bpf_pidns_info { u32 pid, tgid }: the same two numbers, the same way round */
	sti(c, 8, R6, S_TMP, 0);
	movq(c, R1, t->plan->features.pidns_dev);
	movq(c, R2, t->plan->features.pidns_ino);
	dt_slot_lea(c, R3, S_TMP);
	movi(c, R4, 8);
	helper(c, BPF_FUNC_get_ns_current_pid_tgid);
	ld(c, 8, R0, R6, S_TMP);
}

/*
 * The name of the process (that of its first thread) or of the thread, once per firing. Without type information, and for
 * the current thread, the kernel's helper has to do; Linux 6.1 writes up to the NUL only, and what follows it
 * would be of an earlier firing.
 */
static void task_name(dt_tr *t, uint32_t off, uint32_t flag, const struct hop *hops, size_t n)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c), at = 0;
	bool helps = !t->task_arg && (n == 0 || !t->plan->features.btf);

	ld(c, 4, R1, R6, S_FLAGS);
	jmpi(c, BPF_JSET, R1, (int32_t)flag, have);
	alui(c, BPF_OR, R1, (int32_t)flag);
	st(c, 4, R6, S_FLAGS, R1);
	if (helps) {
		sti(c, 8, R6, (int)off, 0);
		sti(c, 8, R6, (int)off + 8, 0);
	} else if (dt_tr_field(t, "task_struct", "comm", &at) == 0) {
		walk(t, hops, n);
		mov(c, R3, R0);
		alui(c, BPF_ADD, R3, (int32_t)at);
	}
	dt_slot_lea(c, R1, off);
	movi(c, R2, 16);
	helper(c, helps ? BPF_FUNC_get_current_comm : BPF_FUNC_probe_read_kernel);
	dt_code_place(c, have);
}

/* The process id inside its own pid namespace: signal->pids[PIDTYPE_TGID]->numbers[level].nr */
static void nspid(dt_tr *t)
{
	static const struct hop hops[] = {{"task_struct", "signal", 8}};
	uint32_t pids, level, numbers;
	dt_code *c = t->c;

	walk(t, hops, 1);
	if (dt_tr_field(t, "signal_struct", "pids", &pids) < 0 ||
	    dt_tr_field(t, "pid", "level", &level) < 0 ||
	    dt_tr_field(t, "pid", "numbers", &numbers) < 0)
		return;
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)pids + 8);
	dt_tr_peek(t, 8);
	st(c, 8, R6, S_VALUE, R0);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)level);
	dt_tr_peek(t, 4);
	alui(c, BPF_LSH, R0, 4); /* struct upid is 16 bytes */
	ld(c, 8, R3, R6, S_VALUE);
	alu(c, BPF_ADD, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)numbers);
	dt_tr_peek(t, 4);
}

/* What pidof() in lib.c takes behind the task. */
int dt_tr_pidns_args(dt_tr *t, uint32_t args)
{
	uint32_t at[5];
	dt_code *c = t->c;

	if (dt_tr_field(t, "task_struct", "signal", &at[0]) < 0 ||
	    dt_tr_field(t, "signal_struct", "pids", &at[1]) < 0 ||
	    dt_tr_field(t, "pid", "level", &at[2]) < 0 ||
	    dt_tr_field(t, "pid", "numbers", &at[3]) < 0 ||
	    dt_tr_field(t, "pid_namespace", "ns.inum", &at[4]) < 0)
		return -1;
	at[1] += 8; /* PIDTYPE_TGID */
	for (uint32_t i = 0; i < DT_NELEM(at); i++)
		sti(c, 8, R6, (int)(args + 8 + i * 8), (int32_t)at[i]);
	movq(c, R0, t->plan->features.pidns_ino);
	st(c, 8, R6, (int)args + 48, R0);
	return 0;
}

/* The parent as it is called in our pid namespace; 0: it is outside. */
static void ppid(dt_tr *t)
{
	static const struct hop parent[] = {{"task_struct", "real_parent", 8}};
	uint32_t args;

	if (!t->plan->features.pidns_ino) {
		walk(t, ppid_hops, DT_NELEM(ppid_hops));
		return;
	}
	args = dt_tr_sub_args(t, "pidof");
	walk(t, parent, 1);
	st(t->c, 8, R6, (int)args, R0);
	if (dt_tr_pidns_args(t, args) == 0)
		dt_tr_sub_run(t, "pidof");
}

/* ---- time ---- */

void dt_tr_time(dt_tr *t)
{
	uint32_t have = dt_code_label(t->c);

	ld(t->c, 8, R0, R6, S_TIME);
	jmpi(t->c, BPF_JNE, R0, 0, have);
	helper(t->c, BPF_FUNC_ktime_get_ns);
	st(t->c, 8, R6, S_TIME, R0);
	dt_code_place(t->c, have);
}

/* ---- arguments of the probe ---- */

#define PT_REGS_SIZE DT_REG_AT(dt_arch_host()->nregs)

/* r0 = the registers the thread entered the kernel with, as a typed pointer (needs kernel BTF) */
static void user_regs(dt_tr *t)
{
	dt_code *c = t->c;

	dt_tr_task(t, true);
	mov(c, R1, R0);
	helper(c, BPF_FUNC_task_pt_regs);
}

/* r0 = argument n of a system call, given its registers at `base` + off. */
static void load_arg(dt_tr *t, uint32_t n, int base, int off)
{
	const struct dt_arch_entry *regs = &dt_arch_host()->entry;
	dt_code *c = t->c;
	uint32_t compat = dt_code_label(c), done = dt_code_label(c);

	if (!t->compat) {
		ld(c, 8, R0, base, off + DT_REG_AT(regs->arg[n]));
		return;
	}
	ld(c, 4, R1, R6, S_FLAGS);
	jmpi(c, BPF_JSET, R1, SF_COMPAT, compat);
	ld(c, 8, R0, base, off + DT_REG_AT(regs->arg[n]));
	ja(c, done);
	dt_code_place(c, compat);
	ld(c, 8, R0, base, off + DT_REG_AT(regs->compat_arg[n]));
	mov32(c, R0, R0);
	dt_code_place(c, done);
}

static void entry_arg(dt_tr *t, uint32_t n)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c);

	if (n >= DT_NELEM(dt_arch_host()->entry.arg)) {
		movi(c, R0, 0);
		return;
	}
	if (t->plan->features.btf) {
		user_regs(t);
		load_arg(t, n, R0, 0);
		return;
	}
	ld(c, 4, R1, R6, S_FLAGS);
	jmpi(c, BPF_JSET, R1, SF_ARGS, have);
	alui(c, BPF_OR, R1, SF_ARGS);
	st(c, 4, R6, S_FLAGS, R1);
	dt_slot_lea(c, R1, S_PTREGS);
	movi(c, R2, PT_REGS_SIZE);
	ld(c, 8, R3, R7, 0);
	helper(c, BPF_FUNC_probe_read_kernel);
	dt_code_place(c, have);
	load_arg(t, n, R6, S_PTREGS);
}

/* arg0 is the kernel address or 0, arg1 the user address or 0, arg2 of a clock event how late it is */
static void interrupted_arg(dt_tr *t, uint32_t n)
{
	uint32_t done = dt_code_label(t->c);

	if (n == 2 && t->kind == PK_PROFILE) {
		dt_tr_lateness(t);
		return;
	}
	if (n >= 2) {
		movi(t->c, R0, 0);
		return;
	}
	ld(t->c, 8, R0, R7, DT_REG_AT(dt_arch_host()->pc)); /* kernel addresses are negative */
	jmpi(t->c, n == 0 ? BPF_JSLT : BPF_JSGT, R0, n == 0 ? 0 : -1, done);
	movi(t->c, R0, 0);
	dt_code_place(t->c, done);
}

#define ARGS_MAX 10

/* r3 = address of argument n of a function, which is on the stack; r3 = stack pointer at the entry */
static void stack_arg(dt_code *c, uint32_t n)
{
	const struct dt_arch_call *call = &dt_arch_host()->call;

	alui(c, BPF_ADD, R3, (int32_t)((n - call->nargs) * 8 + call->stack_args));
}

/* The first arguments of a function are in struct pt_regs, the others on the stack. */
static void function_arg(dt_tr *t, uint32_t n)
{
	const dt_arch *a = dt_arch_host();
	dt_code *c = t->c;

	if (n < a->call.nargs) {
		ld(c, 8, R0, R7, DT_REG_AT(a->call.arg[n]));
	} else if (n < ARGS_MAX) {
		ld(c, 8, R3, R7, DT_REG_AT(a->sp));
		ld(c, 8, R1, R6, S_NUMBER);
		alui(c, BPF_AND, R1, (1 << DT_AT_BEHIND) - 1);
		alu(c, BPF_ADD, R3, R1);
		stack_arg(c, n);
		dt_slot_lea(c, R1, S_TMP);
		movi(c, R2, 8);
		helper(c, BPF_FUNC_probe_read_user); /* leaves zeros when it fails */
		ld(c, 8, R0, R6, S_TMP);
	} else {
		movi(c, R0, 0);
	}
}

/* r0 = argument n of a kernel function */
static void kernel_function_arg(dt_tr *t, uint32_t n)
{
	const dt_arch *a = dt_arch_host();
	dt_code *c = t->c;

	if (n >= ARGS_MAX) {
		movi(c, R0, 0);
	} else if (t->direct) { /* as many as it has */
		sti(c, 8, R6, S_TMP, 0);
		mov(c, R1, R7);
		movi(c, R2, (int32_t)n);
		dt_slot_lea(c, R3, S_TMP);
		helper(c, BPF_FUNC_get_func_arg);
		ld(c, 8, R0, R6, S_TMP);
	} else if (n < a->call.nargs) {
		ld(c, 8, R0, R7, DT_REG_AT(a->call.arg[n]));
	} else {
		ld(c, 8, R3, R7, DT_REG_AT(a->sp));
		stack_arg(c, n);
		dt_slot_lea(c, R1, S_TMP);
		movi(c, R2, 8);
		helper(c, BPF_FUNC_probe_read_kernel); /* leaves zeros when it fails */
		ld(c, 8, R0, R6, S_TMP);
	}
}

/* arg1 is what a kernel function returns, arg0 the offset of the instruction that does: see names.c. */
static void kernel_function_result(dt_tr *t, uint32_t n)
{
	dt_code *c = t->c;

	if (n == 0) {
		dt_tr_probe_return(t);
	} else if (n != 1) {
		movi(c, R0, 0);
	} else if (t->direct) {
		sti(c, 8, R6, S_TMP, 0);
		mov(c, R1, R7);
		dt_slot_lea(c, R2, S_TMP);
		helper(c, BPF_FUNC_get_func_ret);
		ld(c, 8, R0, R6, S_TMP);
	} else {
		ld(c, 8, R0, R7, DT_REG_AT(dt_arch_host()->call.result));
	}
}

/* The return of a user function: where it is, and the value. */
static void function_result(dt_tr *t, uint32_t n)
{
	if (n == 0)
		ld(t->c, 8, R0, R6, S_NUMBER);
	else if (n == 1)
		ld(t->c, 8, R0, R7, DT_REG_AT(dt_arch_host()->call.result));
	else
		movi(t->c, R0, 0);
}

/* r0 = word n of the context, or 0 if it has fewer */
static void context_arg(dt_tr *t, uint32_t n)
{
	if (n < t->nargs)
		ld(t->c, 8, R0, R7, (int)n * 8);
	else
		movi(t->c, R0, 0);
}

static void syscall_result(dt_tr *t, uint32_t n)
{
	if (n < 2)
		ld(t->c, 8, R0, R7, 8);
	else
		movi(t->c, R0, 0);
}

static void error_arg(dt_tr *t, uint32_t n)
{
	if (n < 6)
		ld(t->c, 8, R0, R6, S_EARGS + (int)n * 8);
	else
		movi(t->c, R0, 0);
}

void dt_tr_event_arg(dt_tr *t, uint32_t n)
{
	switch (dt_kind_of(t->kind)->args) {
	case ARGS_NONE: movi(t->c, R0, 0); break;
	case ARGS_ERROR: error_arg(t, n); break;
	case ARGS_SYSCALL: entry_arg(t, n); break;
	case ARGS_SYSCALL_RESULT: syscall_result(t, n); break;
	case ARGS_INTERRUPTED: interrupted_arg(t, n); break;
	case ARGS_CONTEXT: context_arg(t, n); break;
	case ARGS_FUNCTION: kernel_function_arg(t, n); break;
	case ARGS_FUNCTION_RESULT: kernel_function_result(t, n); break;
	case ARGS_USER: function_arg(t, n); break;
	case ARGS_USER_RESULT: function_result(t, n); break;
	}
}

/* The probe's argument: the event's, or what the prologue has made of it. */
static void arg(dt_tr *t, uint32_t n)
{
	if (!t->in_slot || t->kind == PK_ERROR || n >= DT_ATTACH_ARGS) {
		dt_tr_event_arg(t, t->in_slot && t->kind != PK_ERROR ? UINT32_MAX : n);
		return;
	}
	if (t->learn)
		t->learn->used[t->plan->progs.v[t->prog].whole] |= 1u << n;
	ld(t->c, 8, R0, R6, S_PARGS + (int)n * 8);
}

static dt_tr_val known_arg(const dt_tr *t, uint32_t n)
{
	return t->in_slot || n >= 10 || (t->kind != PK_TRACEPOINT && t->kind != PK_FUNC_ENTRY)
		   ? NUMBER
		   : dt_tr_trusted(t, 1 + n);
}

/* The error of a system call, on its return: -4095..-1 means one. */
/*
 * The kernel's own numbers of an interrupted system call (ERESTARTSYS 512, ERESTARTNOINTR 513, ERESTARTNOHAND 514,
 * ERESTART_RESTARTBLOCK 516) never reach the program: it sees EINTR, unless the call is restarted.
 */
#define ERESTART_FIRST 512
#define ERESTART_LAST  516

static void error_number(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	if (t->kind != PK_RETURN) {
		movi(c, R0, 0);
		return;
	}
	ld(c, 8, R0, R7, 8);
	jmpi(c, BPF_JSGE, R0, 0, none);
	jmpi(c, BPF_JSLT, R0, -4095, none);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, R0, 0, 0, 0);
	jmpi(c, BPF_JLT, R0, ERESTART_FIRST, done);
	jmpi(c, BPF_JGT, R0, ERESTART_LAST, done);
	movi(c, R0, EINTR);
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
}

/* ---- the probe ---- */

static void probe_name(dt_tr *t, uint32_t part, uint32_t rd)
{
	dt_tr_name(t, part);
	dt_tr_set(t, rd, R0,
		  (dt_tr_val){.kind = V_NAME, .n = part, .bound = dt_layout_name_bound(t->plan, part)});
}

/* ---- stacks ---- */

/* A tracepoint's program sees itself on the stack: clause, main, bpf_trace_runN, __bpf_trace_EVENT; one that a
 * function calls: clause, main, the code between them. All others begin where the CPU was interrupted. */
#define OWN_FRAMES    4
#define DIRECT_FRAMES 3

/* Is the context the registers at the probe? */
static bool has_regs(const dt_tr *t)
{
	return dt_kind_of(t->kind)->regs && !t->direct;
}

static int stack_flags(const dt_tr *t, bool user)
{
	return user ? BPF_F_USER_STACK : has_regs(t) ? 0 : t->direct ? DIRECT_FRAMES : OWN_FRAMES;
}

static bool has_stack(const dt_tr *t)
{
	return !dt_kind_is_tracer(t->kind);
}

/* The stack of another thread: where it left the CPU, in the kernel. */
static void read_task_stack(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;

	dt_tr_task(t, true);
	mov(c, R1, R0);
	dt_slot_lea(c, R2, off);
	movi(c, R3, (int32_t)size);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_get_task_stack);
}

void dt_tr_read_stack(dt_tr *t, bool user, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);

	if (t->task_arg) {
		if (user)
			dt_tr_left_read(t, off, size);
		else
			read_task_stack(t, off, size);
		return;
	}
	if (user && dt_tr_unwind(t, off, size / 8))
		jmpi(c, BPF_JSGE, R0, 0, done);
	mov(c, R1, R7);
	dt_slot_lea(c, R2, off);
	movi(c, R3, (int32_t)size);
	movi(c, R4, stack_flags(t, user));
	helper(c, BPF_FUNC_get_stack);
	dt_code_place(c, done);
}

#define DEPTH_MAX 127

/* r0 = bytes of the stack that is now in the slot's stack area, or 0 */
static void read_stack(dt_tr *t, bool user, uint32_t frames)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c);

	dt_tr_needs(t, stack);
	dt_tr_read_stack(t, user, t->at->stack, frames * 8);
	jmpi(c, BPF_JSGE, R0, 0, ok);
	movi(c, R0, 0);
	dt_code_place(c, ok);
}

static void stack_depth(dt_tr *t, bool user)
{
	if (!has_stack(t)) {
		movi(t->c, R0, 0);
		return;
	}
	read_stack(t, user, DEPTH_MAX);
	alui(t->c, BPF_RSH, R0, 3);
}

static void caller(dt_tr *t, bool user)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	if (!has_stack(t)) {
		movi(c, R0, 0);
		return;
	}
	read_stack(t, user, 2);
	jmpi(c, BPF_JLT, R0, 16, none);
	dt_slot_lea(c, R1, t->at->stack);
	ld(c, 8, R0, R1, 8);
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
}

/* ---- texts ---- */

static void constant_text(dt_tr *t, const char *s, uint32_t rd)
{
	uint32_t at = dt_tr_string(t, s);

	map_value(t->c, R0, t->maps->rodata, at);
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_TEXT, .n = at});
}

/* execargs: the argument area of the process, NULs made blanks; lib.c does it */
static void exec_args(dt_tr *t, uint32_t rd)
{
	uint32_t at = dt_tr_sub_args(t, "execargs");

	dt_tr_here(t);
	walk(t, args_hops, DT_NELEM(args_hops));
	st(t->c, 8, R6, (int)at, R0);
	walk(t, args_end_hops, DT_NELEM(args_end_hops));
	st(t->c, 8, R6, (int)at + 8, R0);
	dt_tr_sub_run(t, "execargs");
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_STRING});
}

/* cgroupname and containerid: lib.c makes them of the name of the cgroup's directory */
static void cgroup_text(dt_tr *t, const char *fn, uint32_t bound, uint32_t rd)
{
	uint32_t at = dt_tr_sub_args(t, fn);

	dt_tr_here(t);
	walk(t, cgroup_hops, DT_NELEM(cgroup_hops));
	st(t->c, 8, R6, (int)at, R0);
	dt_tr_sub_run(t, fn);
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_STRING, .bound = bound});
}

static bool text(dt_tr *t, uint32_t id, uint32_t rd)
{
	switch (id) {
	case DT_VAR_EXECNAME:
		task_name(t, S_COMM, SF_COMM, leader_hops, DT_NELEM(leader_hops));
		dt_slot_lea(t->c, R0, S_COMM);
		dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_COMM, .n = S_COMM});
		return true;
	case DT_VAR_THREADNAME:
		task_name(t, S_THREAD, SF_THREAD, NULL, 0);
		dt_slot_lea(t->c, R0, S_THREAD);
		dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_COMM, .n = S_THREAD});
		return true;
	case DT_VAR_PROBEPROV ... DT_VAR_PROBENAME:
		probe_name(t, id - DT_VAR_PROBEPROV, rd);
		return true;
	case DT_VAR_ZONENAME: constant_text(t, "global", rd); return true;
	case DT_VAR_JAILNAME: constant_text(t, "0", rd); return true;
	case DT_VAR_EXECARGS:
		if (t->task_arg)
			return text(t, DT_VAR_EXECNAME,
				    rd); /* the memory of another process: its name must do */
		exec_args(t, rd);
		return true;
	case DT_VAR_CONTAINERID: cgroup_text(t, "containerid", 65, rd); return true;
	case DT_VAR_CGROUPNAME: cgroup_text(t, "cgroupname", 0, rd); return true;
	default: return false;
	}
}

static void sign_extend_int(dt_code *c)
{
	alui(c, BPF_LSH, R0, 32);
	alui(c, BPF_ARSH, R0, 32);
}

void dt_tr_builtin(dt_tr *t, uint32_t id, uint32_t rd)
{
	dt_code *c = t->c;

	if (text(t, id, rd))
		return;
	switch (id) {
	case DT_VAR_ARG0 ... DT_VAR_ARG9:
		arg(t, id - DT_VAR_ARG0);
		dt_tr_set(t, rd, R0, known_arg(t, id - DT_VAR_ARG0));
		return;
	case DT_VAR_TIMESTAMP: dt_tr_time(t); break;
	case DT_VAR_WALLTIMESTAMP:
		dt_tr_time(t);
		map_value(c, R1, t->maps->control, CTL_WALL);
		ld(c, 8, R1, R1, 0);
		alu(c, BPF_ADD, R0, R1);
		break;
	case DT_VAR_EPID: dt_tr_epid(t, false); break;
	case DT_VAR_ID: dt_tr_probe_id(t); break;
	case DT_VAR_CPU: ld(c, 4, R0, R6, S_CPU); break;
	case DT_VAR_PID:
		dt_tr_pid_tgid(t);
		alui(c, BPF_RSH, R0, 32);
		break;
	case DT_VAR_TID:
		dt_tr_pid_tgid(t);
		sign_extend_int(c);
		break;
	case DT_VAR_NSPID: nspid(t); break;
	case DT_VAR_PPID: ppid(t); break;
	case DT_VAR_VTIMESTAMP: dt_tr_vtimestamp(t); break;
	case DT_VAR_CURTHREAD:
		dt_tr_task(t, false);
		dt_tr_set(t, rd, R0, dt_tr_trusted(t, 0));
		return;
	case DT_VAR_CGROUPID:
		if (t->task_arg)
			walk(t, cgroup_id_hops, DT_NELEM(cgroup_id_hops));
		else
			helper(c, BPF_FUNC_get_current_cgroup_id);
		break;
	case DT_VAR_IPL: movi(c, R0, t->kind == PK_PROFILE ? 2 : 0); break;
	case DT_VAR_ERRNO: error_number(t); break;
	case DT_VAR_STACKDEPTH: stack_depth(t, false); break;
	case DT_VAR_USTACKDEPTH: stack_depth(t, true); break;
	case DT_VAR_CALLER: caller(t, false); break;
	case DT_VAR_UCALLER: caller(t, true); break;
	case DT_VAR_JID: movi(c, R0, 0); break;
	default:
		for (size_t i = 0; i < DT_NELEM(walks); i++)
			if (walks[i].id == id) {
				walk(t, walks[i].hops, walks[i].n);
				dt_tr_set(t, rd, R0, NUMBER);
				return;
			}
		dt_tr_here(t);
		ja(c, dt_tr_fault_label(t, DT_FLT_ILLOP));
		t->reachable = false;
		return;
	}
	dt_tr_set(t, rd, R0, NUMBER);
}

/* ---- args[], regs[], uregs[] ---- */

/* The thread's user registers, by index in struct pt_regs (lib/regs.d). A uprobe's context is just that. On kernels
 * without type information only system calls have them besides: both tracepoints pass them. */
static void user_register(dt_tr *t, uint64_t n)
{
	dt_code *c = t->c;

	if (n >= PT_REGS_SIZE / 8) {
		movi(c, R0, 0);
	} else if (dt_kind_of(t->kind)->user_regs) {
		ld(c, 8, R0, R7, (int)n * 8);
	} else if (t->plan->features.btf) {
		user_regs(t);
		ld(c, 8, R0, R0, (int)n * 8);
	} else if (dt_kind_is_syscall(t->kind)) {
		ld(c, 8, R3, R7, 0);
		alui(c, BPF_ADD, R3, (int32_t)n * 8);
		dt_tr_peek(t, 8);
	} else {
		movi(c, R0, 0);
	}
}

void dt_tr_builtin_array(dt_tr *t, uint32_t id, uint32_t index_reg, uint32_t rd)
{
	const dt_tr_val *v = &t->now.reg[index_reg];
	uint64_t n = index_reg ? v->n : 0;

	if (index_reg && v->kind != V_CONST) {
		dt_tr_fail(t, "at DIF offset %u: an index that is not constant", t->loff);
		return;
	}
	if (id == DT_VAR_ARGS)
		arg(t, n < 10 ? (uint32_t)n : 10);
	else if (id == DT_VAR_UREGS)
		user_register(t, n);
	else if (id == DT_VAR_REGS && has_regs(t) && n < PT_REGS_SIZE / 8)
		ld(t->c, 8, R0, R7, (int)n * 8);
	else
		movi(t->c, R0, 0);
	dt_tr_set(t, rd, R0,
		  id == DT_VAR_ARGS ? known_arg(t, (uint32_t)(n < 10 ? n : 10)) : NUMBER);
}
