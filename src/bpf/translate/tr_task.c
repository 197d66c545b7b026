/*
 * tr_task: the thread that a probe is about: its process, its names, and values found only in the
 * kernel's structures (parent, namespaces, credentials, cgroup).
 *
 * Such a value is a walk from the task along members whose offsets come from the kernel's type
 * information, which is read only if a program uses such a variable.
 */
#include "bpf/translate/translate.h"

/* ---- walks ---- */

bool dt_tr_find_field(const dt_plan *plan, const char *type, const char *path, uint32_t *offset)
{
	*offset = 0;
	return plan->types && dt_kernel_offset(plan->types, type, path, offset);
}

int dt_tr_field(dt_tr *t, const char *type, const char *path, uint32_t *offset)
{
	if (dt_tr_find_field(t->plan, type, path, offset))
		return 0;
	dt_tr_fail(t, "this kernel's type information has no struct %s member %s%s", type, path,
		   dt_plan_can(t->plan, BTF) ? "" : " (there is no /sys/kernel/btf/vmlinux)");
	return -1;
}

struct hop {
	const char *type, *member;
	uint32_t size; /* of what is read there; 0: its address is the value */
};

void dt_tr_task(dt_tr *t, bool trusted)
{
	if (trusted ? dt_tr_kept_task(t) : dt_tr_known_task(t, R0))
		return;
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
			pid_hops[] = {{"task_struct", "pid", 8}}, /* tgid follows it */
    args_hops[] = {{"task_struct", "mm", 8}, {"mm_struct", "arg_start", 8}},
			args_end_hops[] = {{"task_struct", "mm", 8}, {"mm_struct", "arg_end", 8}},
			leader_hops[] = {{"task_struct", "group_leader", 8}};

/* The same by pointers that the kernel knows the type of. */
static void walk_typed(dt_tr *t, const struct hop *hops, size_t n)
{
	uint32_t off;

	dt_tr_typed_task(t);
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

/* ---- the process ---- */

/* For the process the path goes through task->signal; for the thread, pidof() starts at a pointer
 * to the task:
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
		if (!dt_tr_ids(t))
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

/* The name of the task that the hops lead to, by pointers that the kernel knows the type of: two words. */
static bool typed_name(dt_tr *t, uint32_t off, const struct hop *hops, size_t n)
{
	dt_code *c = t->c;
	uint32_t at = 0, hop = 0;

	if (!t->loads->trusts || dt_tr_field(t, "task_struct", "comm", &at) < 0 || at % 8 ||
	    at > DT_SLOT_FAR)
		return false;
	if (n)
		dt_tr_typed_task(t);
	else
		dt_tr_task(t, true);
	for (size_t i = 0; i < n; i++) {
		if (dt_tr_field(t, hops[i].type, hops[i].member, &hop) < 0)
			return true;
		ld(c, 8, R0, R0, (int)hop);
	}
	for (int i = 0; i < 16; i += 8) {
		ld(c, 8, R1, R0, (int)at + i);
		st(c, 8, R6, (int)off + i, R1);
	}
	return true;
}

/* The same by a helper, which copies. */
static void read_name(dt_tr *t, uint32_t off, const struct hop *hops, size_t n)
{
	uint32_t at = 0;

	if (dt_tr_field(t, "task_struct", "comm", &at) < 0)
		return;
	walk(t, hops, n);
	mov(t->c, R3, R0);
	alui(t->c, BPF_ADD, R3, (int32_t)at);
	dt_slot_lea(t->c, R1, off);
	movi(t->c, R2, 16);
	helper(t->c, BPF_FUNC_probe_read_kernel);
}

/* The name of the current thread. Linux 6.1 writes up to the NUL only, and what follows it would be of an earlier firing. */
static void current_name(dt_tr *t, uint32_t off)
{
	sti(t->c, 8, R6, (int)off, 0);
	sti(t->c, 8, R6, (int)off + 8, 0);
	dt_slot_lea(t->c, R1, off);
	movi(t->c, R2, 16);
	helper(t->c, BPF_FUNC_get_current_comm);
}

/*
 * The name of the process (that of its first thread) or of the thread, once per firing. Where there is no type information,
 * or kernel memory cannot be read, the name of the thread is used.
 */
static void task_name(dt_tr *t, uint32_t off, uint32_t flag, const struct hop *hops, size_t n)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c);
	bool named = t->task_arg || (n > 0 && dt_plan_can(t->plan, BTF));

	dt_tr_reads(t, flags);
	ld(c, 4, R1, R6, S_FLAGS);
	jmpi(c, BPF_JSET, R1, (int32_t)flag, have);
	alui(c, BPF_OR, R1, (int32_t)flag);
	st(c, 4, R6, S_FLAGS, R1);
	if (named && typed_name(t, off, hops, n)) {
		/* done */
	} else if (named && (t->task_arg || t->learn || dt_plan_can(t->plan, READS))) {
		read_name(t, off, hops, n);
	} else {
		current_name(t, off);
	}
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

/* What pidof() in lib.c takes after the task. */
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

/* The parent's number in our pid namespace; 0: it is outside. */
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

void dt_tr_process_name(dt_tr *t)
{
	task_name(t, S_COMM, SF_COMM, leader_hops, DT_NELEM(leader_hops));
}

void dt_tr_thread_name(dt_tr *t)
{
	task_name(t, S_THREAD, SF_THREAD, NULL, 0);
}

void dt_tr_exec_args(dt_tr *t, uint32_t args)
{
	walk(t, args_hops, DT_NELEM(args_hops));
	st(t->c, 8, R6, (int)args, R0);
	walk(t, args_end_hops, DT_NELEM(args_end_hops));
	st(t->c, 8, R6, (int)args + 8, R0);
}

void dt_tr_cgroup_name(dt_tr *t)
{
	walk(t, cgroup_hops, DT_NELEM(cgroup_hops));
}

void dt_tr_cgroup(dt_tr *t)
{
	walk(t, cgroup_hops, 2);
}

/* The group of a thread that is not the current one: ancestors[level] of its group, if that is so deep. */
static void cgroup_of_task(dt_tr *t, uint32_t level_at)
{
	uint32_t level, ancestors, kn, id, deep = dt_code_label(t->c), end = dt_code_label(t->c);
	dt_code *c = t->c;

	if (dt_tr_field(t, "cgroup", "level", &level) < 0 ||
	    dt_tr_field(t, "cgroup", "ancestors", &ancestors) < 0 ||
	    dt_tr_field(t, "cgroup", "kn", &kn) < 0 || dt_tr_field(t, "kernfs_node", "id", &id) < 0)
		return;
	walk(t, cgroup_hops, 2);
	st(c, 8, R6, S_VALUE, R0);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)level);
	dt_tr_peek(t, 4);
	ld(c, 8, R1, R6, (int)level_at);
	jmp(c, BPF_JGE, R0, R1, deep); /* a negative one is larger than all */
	movi(c, R0, 0);
	ja(c, end);
	dt_code_place(c, deep);
	ld(c, 8, R3, R6, S_VALUE);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R3, R1);
	alui(c, BPF_ADD, R3, (int32_t)ancestors);
	dt_tr_peek(t, 8);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)kn);
	dt_tr_peek(t, 8);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)id);
	dt_tr_peek(t, 8);
	dt_code_place(c, end);
}

/* r0 = id of the group at the level that is in the slot at level_at */
void dt_tr_cgroup_at(dt_tr *t, uint32_t level_at)
{
	if (t->task_arg) {
		cgroup_of_task(t, level_at);
		return;
	}
	ld(t->c, 8, R1, R6, (int)level_at);
	helper(t->c, BPF_FUNC_get_current_ancestor_cgroup_id);
}

static void cgroup_id(dt_tr *t)
{
	if (t->task_arg)
		walk(t, cgroup_id_hops, DT_NELEM(cgroup_id_hops));
	else
		helper(t->c, BPF_FUNC_get_current_cgroup_id);
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

bool dt_tr_task_value(dt_tr *t, uint32_t id)
{
	switch (id) {
	case DT_VAR_NSPID: nspid(t); return true;
	case DT_VAR_PPID: ppid(t); return true;
	case DT_VAR_CGROUPID: cgroup_id(t); return true;
	default: break;
	}
	for (size_t i = 0; i < DT_NELEM(walks); i++)
		if (walks[i].id == id) {
			walk(t, walks[i].hops, walks[i].n);
			return true;
		}
	return false;
}
