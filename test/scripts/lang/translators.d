#!/usr/sbin/dtrace -s
// run: -e
/* A stable view of an unstable structure: write a translator once, use it everywhere. */

struct taskinfo {
	int ti_pid;
	int ti_ppid;
	string ti_name;
	uint64_t ti_runtime;
	int ti_nice;
};

typedef struct taskinfo taskinfo_t;

translator taskinfo_t < struct task_struct *T > {
	ti_pid = T->tgid;
	ti_ppid = T->real_parent->tgid;
	ti_name = stringof(T->comm);
	ti_runtime = T->se.sum_exec_runtime;
	ti_nice = T->static_prio - 120;
};

inline taskinfo_t *me = xlate <taskinfo_t *> (curthread);

syscall::sched_yield:entry
{
	@[xlate <taskinfo_t> (curthread).ti_name, me->ti_nice] = max(me->ti_runtime);
	printf("%d of %d", me->ti_pid, xlate <taskinfo_t *> (curthread->real_parent)->ti_pid);
}
