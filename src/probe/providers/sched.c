/*
 * sched: the scheduler's decisions. Names and arguments are those of DTrace.
 *
 * Most of it comes from one tracepoint, sched_switch: the thread that leaves (which is still the
 * current one, so sleep, preempt and off-cpu are about it), why it leaves, and the thread that gets
 * the CPU (on-cpu is about that one). Probes of one event fire in the order of this table, which is
 * DTrace's: sleep or preempt, off-cpu, on-cpu.
 *
 * A thread is on a run queue from enqueue (it was woken, created, or lost the CPU) to dequeue (it
 * gets the CPU); one that is moved to another CPU while it waits leaves one queue and then enters
 * another: dequeue comes before enqueue in the table, so that a script that measures the time from
 * enqueue to dequeue gets both parts of the wait.
 */
#include "probe/providers/stable.h"

#define TASK "struct task_struct *"

#define LWP_OF(n)  {n, TASK, "lwpsinfo_t *"}
#define PROC_OF(n) {n, TASK, "psinfo_t *"}
#define CPU_OF(n)  {n, "int", "cpuinfo_t *"}

/* sched_switch(preempt, prev, next, prev_state); what the kernel counts as involuntary */
#define LOST_CPU "(args[0] || args[3] == 0) && args[1]->pid != 0"
#define CPU_OF_TASK(t) "(int)" t "->thread_info.cpu ?? (int)" t "->cpu"
/* Woken while it had not yet left the CPU: it was never off the queue. */
#define NOT_RUNNING "args[0]->on_cpu == 0"
#define MIGRATING   "args[0]->on_rq == 2"

/* pr_pri: real-time priorities are below 0, nice 0 is 20 */
#define NEW_PRIORITY(policy, rt, nice)                                                             \
	policy " == 1 || " policy " == 2 ? -1 - (int)" rt " : " policy " == 6 ? -101 : 20 + (int)(" nice ")"

/* The first name is for Linux before 6.9, which had a different function with the second name. */
#define TICK_HANDLER                                                                               \
	"((uint64_t)args[0]->function == (uint64_t)&`tick_sched_timer ?? "                        \
	"(uint64_t)args[0]->function == (uint64_t)&`tick_nohz_handler) && curthread->pid != 0"

static const dt_stable_probe rows[] = {
    {"sleep", .sites = SITES(AT(TRACEPOINT, "sched_switch", .when = "!args[0] && args[3] != 0"))},
    {"preempt", .sites = SITES(AT(TRACEPOINT, "sched_switch", .when = LOST_CPU))},
    {"off-cpu",
     .args = {LWP_OF(0), PROC_OF(0)},
     .sites = SITES(AT(TRACEPOINT, "sched_switch", .arg = {"arg2"}))},
    {"dequeue",
     .args = {LWP_OF(0), PROC_OF(0), CPU_OF(1)},
     .sites = SITES(AT(TRACEPOINT, "sched_switch", .when = "args[2]->pid != 0", .arg = {"arg2", "cpu"}),
		    AT(TRACEPOINT, "sched_migrate_task", .when = MIGRATING,
		       .arg = {"arg0", CPU_OF_TASK("args[0]")}))},
    {"enqueue",
     .args = {LWP_OF(0), PROC_OF(0), CPU_OF(1), {2, "int"}},
     .sites = SITES(AT(TRACEPOINT, "sched_switch", .when = LOST_CPU, .arg = {"arg1", "cpu", "0"}),
		    AT(TRACEPOINT, "sched_wakeup", .when = NOT_RUNNING, .arg = {"arg0", CPU_OF_TASK("args[0]"), "0"}),
		    AT(TRACEPOINT, "sched_wakeup_new", .arg = {"arg0", CPU_OF_TASK("args[0]"), "0"}),
		    AT(TRACEPOINT, "sched_migrate_task", .when = MIGRATING, .arg = {"arg0", "args[1]", "0"}))},
    {"on-cpu", .sites = SITES(AT(TRACEPOINT, "sched_switch", .task_arg = 3))},
    {"remain-cpu",
     .needs = "Linux 6.16: older schedulers do not say that they changed nothing (tracepoint sched_exit_tp)",
     .sites = SITES(AT(TRACEPOINT, "sched_exit_tp", .when = "!args[0]"))},
    {"wakeup",
     .args = {LWP_OF(0), PROC_OF(0)},
     .sites = SITES(AT(TRACEPOINT, "sched_waking", .arg = {"arg0"}))},
    {"change-pri",
     .args = {LWP_OF(0), PROC_OF(0), {1, "int", "pri_t"}},
     .sites = SITES(AT(TRACEPOINT, "sched_pi_setprio", .arg = {"arg0", "(arg1 ? args[1]->prio : args[0]->normal_prio) - 100"}),
		    AT(FUNC_ENTRY, "set_user_nice", .arg = {"arg0", "args[1] + 20"}),
		    ELSE(SYSCALL_ENTRY, "setpriority", .when = "arg0 == 0 && (arg1 == 0 || arg1 == tid)",
			 .arg = {"(uint64_t)curthread", "(int)arg2 + 20"}),
		    AT(FUNC_ENTRY, "__sched_setscheduler", .arg = {"arg0", NEW_PRIORITY("args[1]->sched_policy",
				    "args[1]->sched_priority", "args[1]->sched_nice")}),
		    ELSE(SYSCALL_ENTRY, "sched_setscheduler", .when = "arg0 == 0 || arg0 == tid",
			 .arg = {"(uint64_t)curthread", NEW_PRIORITY("(arg1 & 0xffff)", "*(userland int *)arg2",
				 "curthread->static_prio - 120")}))},
    {"tick",
     .args = {LWP_OF(0), PROC_OF(0)},
     .sites = SITES(AT(TRACEPOINT, "hrtimer_expire_entry", .when = TICK_HANDLER, .arg = {"(uint64_t)curthread"}))},
    {"surrender",
     .needs = "Linux 6.16 (tracepoint sched_set_need_resched_tp)",
     .args = {LWP_OF(0), PROC_OF(0)},
     .sites = SITES(AT(TRACEPOINT, "sched_set_need_resched_tp", .when = "args[1] != cpu", .arg = {"arg0"}))},
    /* FreeBSD's: a thread that waits for a lock lends its priority to the owner; how many threads a CPU has to run */
    {"lend-pri",
     .args = {LWP_OF(0), PROC_OF(0), {1, "int", "pri_t"}, LWP_OF(2)},
     .sites = SITES(AT(TRACEPOINT, "sched_pi_setprio", .when = "arg1 != 0 && args[1]->prio < args[0]->prio",
		       .arg = {"arg0", "args[1]->prio - 100", "arg1"}))},
    {"load-change",
     .args = {{0, "int"}, {1, "int"}},
     .sites = SITES(AT(TRACEPOINT, "sched_update_nr_running_tp", .arg = {"args[0]->cpu", "args[0]->nr_running"}))},
};

DT_STABLE_PROVIDER(sched, "sched", rows, DT_STABLE_EVOLVING);
