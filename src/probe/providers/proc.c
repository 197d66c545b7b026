/*
 * proc: processes and threads from fork to exit, exec, signals. Names and arguments are those of DTrace.
 *
 * A process is a thread group: what happens to its leader at fork, and to its last thread at exit, happens to the
 * process. start and lwp-start fire where the new thread returns 0 from the call that made it: in its own context,
 * before its first instruction. Where the kernel does not report that (dt_arch_calls.child_returns), it is the function that a
 * new thread runs before it gets there; without probes of functions the first switch to the thread. A signal without details (kill_pgrp, timers of the kernel) has a siginfo of 0 or 1.
 */
#include "arch/dtext.h"
#include "probe/providers/stable.h"

#define TASK	"struct task_struct *"
#define SIGINFO "struct kernel_siginfo *"

#define LWP_OF(n)  {n, TASK, "lwpsinfo_t *"}
#define PROC_OF(n) {n, TASK, "psinfo_t *"}

/* (int)curthread->exit_code as wait() gives it -> CLD_EXITED, CLD_KILLED, CLD_DUMPED */
#define CLD_CODE "(curthread->exit_code & 0x7f) == 0 ? 1 : curthread->exit_code & 0x80 ? 3 : 2"

/* The last thread of its process. Linux before 6.16 does not say so; there several threads that end
 * at once can all see that none is left. */
#define LAST_THREAD                                                                                \
	"(args[1]) ?? (args[0]->signal->live.counter == 0 && __claim(args[0]->group_leader->start_time))"

/* A signal that the thread caused by an instruction: SIGILL SIGTRAP SIGBUS SIGFPE SIGSEGV with a
 * reason. */
#define IS_FAULT                                                                                   \
	"(args[0] == 4 || args[0] == 5 || args[0] == 7 || args[0] == 8 || args[0] == 11) && "      \
	"(uint64_t)args[1] > 1 && args[1]->si_code > 0 && args[1]->si_code < 0x80 && args[2] == curthread"
/* FLTILL FLTPRIV FLTBPT FLTTRACE FLTACCESS FLTBOUNDS FLTIOVF FLTIZDIV FLTFPE, as Solaris numbers them */
#define FAULT_CODE                                                                                 \
	"args[0] == 4 ? (args[1]->si_code == 5 ? 2 : 1) : args[0] == 5 ? (args[1]->si_code == 2 ? 4 : 3) : " \
	"args[0] == 7 ? 5 : args[0] == 11 ? 6 : args[1]->si_code == 2 ? 7 : args[1]->si_code == 1 ? 8 : 9"

/*
 * The path given to exec() is read where the call begins, if that is possible: a child that has
 * just been forked does not have all of its memory mapped, and our programs may not wait for a
 * page. Then exec fires later, when the kernel has read the path: when the new image is ready, or
 * with the error.
 */
#define READABLE(address)                                                                          \
	"(self->dt_proc_exec = " address " + 1, *(userland char *)" address ", self->dt_proc_exec = 0, 1)"
#define LATE	   "self->dt_proc_exec != 0" /* data left by one exec is cleared by the next */
#define LATE_ERROR .when = LATE " && arg1 < 0", .arg = {"copyinstr(self->dt_proc_exec - 1)"}

/* fork and its relatives return 0 in the child. `condition` is "" or "&& ...", `function` FUNC_ENTRY for the probe that comes
 * first and FUNC_RETURN for the other, `mark` a variable of the thread. */
#define CHILD(call, condition, ...) AT(SYSCALL_RETURN, call, .in_child = true, .when = "arg1 == 0" condition, ##__VA_ARGS__)
#define IN_CHILD(condition, function, mark)                                                        \
	CHILD("clone", "", .nothing = true), ELSE(function, "schedule_tail", .nothing = true),       \
	    ELSE(TRACEPOINT, "sched_process_fork", .task_arg = 2, .when = "(" mark " = " OF_USER condition ", 0)"), \
	    CHILD("clone", condition), ELSE(function, "schedule_tail", .when = OF_USER condition), \
	    ELSE(TRACEPOINT, "sched_switch", .task_arg = 3, .when = mark " && (" mark " = 0, 1)"), \
	    CHILD("fork", condition), CHILD("vfork", condition), CHILD("clone3", condition)
/* not PF_KTHREAD, PF_USER_WORKER, PF_IO_WORKER */
#define OF_USER "(curthread->flags & 0x204010) == 0"

static const dt_stable_probe rows[] = {
    {"create", .inside = DT_IN_CREATE,
     .args = {PROC_OF(0)},
     .sites = SITES(AT(TRACEPOINT, "sched_process_fork", .when = "args[1]->pid == args[1]->tgid", .arg = {"arg1"}))},
    {"exec", .inside = DT_IN_EXEC,
     .args = {{0, "char *", "string"}},
     .sites = SITES(AT(SYSCALL_ENTRY, "execve", .when = READABLE("arg0"), .arg = {"copyinstr(arg0)"}),
		    AT(SYSCALL_ENTRY, "execveat", .when = READABLE("arg1"), .arg = {"copyinstr(arg1)"}),
		    AT(TRACEPOINT, "sched_prepare_exec", .when = LATE, .arg = {"(uint64_t)args[1]->filename"}),
		    ELSE(TRACEPOINT, "sched_process_exec", .when = LATE, .arg = {"(uint64_t)args[2]->filename"}),
		    AT(SYSCALL_RETURN, "execve", LATE_ERROR), AT(SYSCALL_RETURN, "execveat", LATE_ERROR))},
    {"exec-success", .inside = DT_IN_EXEC_SUCCESS, .sites = SITES(AT(TRACEPOINT, "sched_process_exec"))},
    {"exec-failure", .inside = DT_IN_EXEC_FAILURE,
     .args = {{0, "int"}},
     .sites = SITES(AT(SYSCALL_RETURN, "execve", .when = "arg1 < 0", .arg = {"-arg1"}),
		    AT(SYSCALL_RETURN, "execveat", .when = "arg1 < 0", .arg = {"-arg1"}))},
    {"start", .inside = DT_IN_START, .sites = SITES(IN_CHILD(" && curthread->pid == curthread->tgid", FUNC_ENTRY, "self->dt_proc_start"))},
    {"lwp-start", .inside = DT_IN_LWP_START, .sites = SITES(IN_CHILD("", FUNC_RETURN, "self->dt_proc_lwp_start"))},
    {"lwp-create", .inside = DT_IN_LWP_CREATE,
     .args = {LWP_OF(0), PROC_OF(0)},
     .sites = SITES(AT(TRACEPOINT, "sched_process_fork", .when = "args[1]->pid != args[1]->tgid", .arg = {"arg1"}))},
    {"lwp-exit", .inside = DT_IN_LWP_EXIT, .sites = SITES(AT(TRACEPOINT, "sched_process_exit"))},
    {"exit", .inside = DT_IN_EXIT,
     .args = {{0, "int"}},
     .sites = SITES(AT(TRACEPOINT, "sched_process_exit", .when = LAST_THREAD, .arg = {CLD_CODE}))},
    {"fault",
     .args = {{0, "int"}, {1, SIGINFO, "siginfo_t *"}},
     .sites = SITES(AT(TRACEPOINT, "signal_generate", .when = IS_FAULT, .arg = {FAULT_CODE, "arg1"}))},
    {"signal-send",
     .args = {LWP_OF(0), PROC_OF(0), {1, "int"}},
     .sites = SITES(AT(TRACEPOINT, "signal_generate", .arg = {"arg2", "args[0]"}))},
    {"signal-discard",
     .args = {LWP_OF(0), PROC_OF(0), {1, "int"}},
     .sites = SITES(AT(TRACEPOINT, "signal_generate", .when = "args[4] == 1", .arg = {"arg2", "args[0]"}))},
    {"signal-handle",
     .args = {{0, "int"}, {1, SIGINFO, "siginfo_t *"}, {2, "void (*)(void)"}},
     .sites = SITES(AT(TRACEPOINT, "signal_deliver", .when = "(uint64_t)args[2]->sa.sa_handler > 1",
		       .arg = {"args[0]", "arg1", "(uint64_t)args[2]->sa.sa_handler"}))},
    {"signal-clear",
     .args = {{0, "int"}, {1, "userland " SIGINFO, "siginfo_t *"}},
     .sites = SITES(AT(SYSCALL_RETURN, "rt_sigtimedwait", .when = "arg1 > 0", .arg = {"arg1", DT_SYSCALL_NATIVE_ARG(1)}))},
};

DT_STABLE_PROVIDER(proc, "proc", rows, DT_STABLE_EVOLVING);
