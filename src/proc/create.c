/*
 * create: starts a command (-c), holds it right after its exec, runs it to its evaltime point.
 *
 * The child waits at a socket until we are its tracer, then it execs: PTRACE_EVENT_EXEC says that
 * it worked, a number in the socket why not. From there it continues to the end of the system call,
 * so that even the return from exec is over when tracing begins: the first event of the process is
 * its own first system call.
 *
 * Running to a point uses a breakpoint in the process's private copy of a page. It exists only
 * while the process runs and we wait for it: it is removed before anything else happens, also from
 * children that it forks meanwhile. If we die then, the kernel kills the command
 * (PTRACE_O_EXITKILL), since it would run into the breakpoint. Once it is released it is
 * independent of us.
 *
 * Where ptrace is refused (seccomp, Yama), the child keeps waiting at the socket, and execs when it
 * is released.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/trap.h"
#include "proc/hold.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |       \
	 PTRACE_O_TRACESYSGOOD)
#define STARTUP_STEPS 64 /* instructions before a program calls its C library */

/* ---- the child ---- */

/* Signal handlers of the API's user must not run in the child; ignored signals stay ignored. */
static void default_signal(int sig)
{
	struct sigaction old;

	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		signal(sig, SIG_DFL);
}

/*
 * Wait for the signal to start, then become the command. A copy of a program with file capabilities
 * can be traced only with CAP_SYS_PTRACE, unless it makes itself dumpable. That allows no process
 * but us: ptrace also requires all the capabilities that it has.
 */
static _Noreturn void become_command(const dt_options *o, int gate, char *const argv[])
{
	ssize_t n;
	int error;
	char go;

	default_signal(SIGINT);
	default_signal(SIGTERM);
	default_signal(SIGHUP);
	prctl(PR_SET_DUMPABLE, 1);
	if (send(gate, "", 1, MSG_NOSIGNAL) != 1)
		_exit(0);
	while ((n = read(gate, &go, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(0); /* tracing never began */
	for (uint32_t i = 0; i < o->list[DT_O_UNSETENV].n; i++)
		unsetenv(o->list[DT_O_UNSETENV].v[i]);
	for (uint32_t i = 0; i < o->list[DT_O_SETENV].n; i++)
		putenv(o->list[DT_O_SETENV].v[i]);
	execvp(argv[0], argv);
	error = errno;
	if (send(gate, &error, sizeof(error), MSG_NOSIGNAL) < 0)
		_exit(126);
	_exit(127);
}

int dt_hold_open_gate(struct dt_hold *hold)
{
	int error = 0;

	send(hold->gate, "", 1, MSG_NOSIGNAL); /* fails only if it has died while waiting */
	while (recv(hold->gate, &error, sizeof(error), 0) < 0 && errno == EINTR)
		; /* exec closes it: nothing comes */
	close(hold->gate);
	hold->gate = -1;
	return error;
}

/* ---- stops ---- */

static int has_ended(struct dt_hold *hold, int status, const char *where, dt_error *err)
{
	char how[64];

	hold->ended = true;
	hold->status = status;
	hold->threads.n = 0;
	dt_proc_status_text(status, how, sizeof(how));
	dt_err(err, ESRCH, "pid %ld %s before %s", hold->pid, how, where);
	err->tag = D_PROC_GRAB;
	return -1;
}

/* Wait for the next stop. 0, or -1: it has ended. */
static int wait_stop(struct dt_hold *hold, int *status, const char *where, dt_error *err)
{
	pid_t got;

	while ((got = waitpid((pid_t)hold->pid, status, __WALL)) < 0 && errno == EINTR)
		;
	if (got < 0)
		*status = 0;
	if (got < 0 || !WIFSTOPPED(*status))
		return has_ended(hold, *status, where, err);
	return 0;
}

/* A child that it forked is not ours: remove the breakpoint, if it has one, and release it.
 */
static void let_fork_go(struct dt_hold *hold, bool copied, const dt_trap *trap)
{
	unsigned long child = 0;
	int status;
	pid_t got;

	if (ptrace(PTRACE_GETEVENTMSG, (pid_t)hold->pid, 0, &child) < 0 || child == 0)
		return;
	while ((got = waitpid((pid_t)child, &status, __WALL)) < 0 && errno == EINTR)
		;
	if (got < 0 || !WIFSTOPPED(status))
		return;
	if (copied && trap)
		dt_trap_remove((pid_t)child, trap);
	ptrace(PTRACE_DETACH, (pid_t)child, 0, 0);
}

/* Continue from an unrelated stop. trap: a breakpoint that is in place, or NULL. */
static void pass_over(struct dt_hold *hold, int how, int status, const dt_trap *trap)
{
	int event = status >> 16, signal = event ? 0 : WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
		how = PTRACE_LISTEN; /* stopped by a signal: it stays so until SIGCONT */
	else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
		let_fork_go(hold, event == PTRACE_EVENT_FORK, trap);
	else if (signal == (SIGTRAP | 0x80))
		signal = 0; /* of a system call */
	ptrace(how, (pid_t)hold->pid, 0, signal);
}

static bool is_exec(int status)
{
	return status >> 16 == PTRACE_EVENT_EXEC;
}

/* From the exec event to the end of the system call. */
static int finish_exec(struct dt_hold *hold, dt_error *err)
{
	int status;

	ptrace(PTRACE_SYSCALL, (pid_t)hold->pid, 0, 0);
	for (;;) {
		if (wait_stop(hold, &status, "its first instruction", err) < 0)
			return -1;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		pass_over(hold, PTRACE_SYSCALL, status, NULL);
	}
}

/* ---- running ---- */

/* Run until the instruction at addr is the next. 1: reached; 0: it has exec'd another program; -1:
 * ended. */
static int run_to(struct dt_hold *hold, uint64_t addr, const char *where, dt_error *err)
{
	pid_t pid = (pid_t)hold->pid;
	dt_trap trap;
	int status;

	if (dt_trap_insert(pid, addr, &trap) < 0)
		return 1; /* not mapped: stop here */
	ptrace(PTRACE_CONT, pid, 0, 0);
	for (;;) {
		if (wait_stop(hold, &status, where, err) < 0)
			return -1;
		if (is_exec(status)) /* the breakpoint disappeared with the old program */
			return finish_exec(hold, err);
		if (status >> 8 == SIGTRAP && dt_trap_hit(pid, &trap)) {
			dt_trap_remove(pid, &trap);
			return 1;
		}
		pass_over(hold, PTRACE_CONT, status, &trap);
	}
}

/* One instruction. 0, or -1: ended; *called: it was the call of a function. */
static int step(struct dt_hold *hold, bool *called, const char *where, dt_error *err)
{
	struct dt_trap_regs before = {0}, after = {0};
	pid_t pid = (pid_t)hold->pid;
	int status;

	dt_trap_regs(pid, &before);
	ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	for (;;) {
		if (wait_stop(hold, &status, where, err) < 0)
			return -1;
		if (status >> 8 == SIGTRAP)
			break;
		pass_over(hold, PTRACE_SINGLESTEP, status, NULL);
	}
	dt_trap_regs(pid, &after);
	*called = dt_trap_called(pid, &before, &after);
	return 0;
}

/* The state of the dynamic linker: RT_CONSISTENT is 0. */
static uint32_t linker_state(const struct dt_hold *hold, const struct dt_points *pt)
{
	uint64_t word = 0;

	dt_trap_peek((pid_t)hold->pid, pt->r_debug + (pt->is64 ? 24 : 12), &word);
	return (uint32_t)word;
}

/* All objects are loaded, none is initialised. The state announces the start of loading, then its
 * end. */
static int run_to_preinit(struct dt_hold *hold, const struct dt_points *pt, dt_error *err)
{
	static const char where[] = "its libraries were loaded";
	bool called, began = pt->r_debug == 0;

	for (;;) {
		int rc = run_to(hold, pt->loaded, where, err);

		if (rc <= 0)
			return rc;
		if (pt->r_debug && linker_state(hold, pt) != 0)
			began = true;
		else if (began)
			return 1;
		if (step(hold, &called, where, err) < 0)
			return -1;
	}
}

/*
 * main without symbols: a program of the C library begins with a few instructions and then calls
 * __libc_start_main, whose first argument is main. 0: it is not such a program.
 */
static int find_main(struct dt_hold *hold, struct dt_points *pt, dt_error *err)
{
	struct dt_trap_regs regs;
	bool called = false;

	for (int i = 0; pt->main == 0 && pt->is64 && i < STARTUP_STEPS && !called; i++) {
		if (step(hold, &called, "main", err) < 0)
			return -1;
		if (called && dt_trap_regs((pid_t)hold->pid, &regs) == 0 && regs.arg0 >= pt->text &&
		    regs.arg0 < pt->text_end)
			pt->main = regs.arg0;
	}
	return 0;
}

/* 1: reached; 0: it called exec before; -1 with *err. */
static int run_to_point(struct dt_hold *hold, uint64_t evaltime, dt_jail *jail, dt_error *err)
{
	struct dt_trap_regs regs = {0};
	struct dt_points pt;
	int rc;

	dt_points_find(hold->pid, jail, &pt);
	dt_trap_regs((pid_t)hold->pid, &regs);
	if (pt.entry == 0 || evaltime == DT_EVALTIME_EXEC)
		return 1;
	if (evaltime == DT_EVALTIME_PREINIT && pt.loaded)
		return run_to_preinit(hold, &pt, err);
	rc = regs.pc == pt.entry ? 1 : run_to(hold, pt.entry, "it began", err);
	if (rc <= 0 || evaltime != DT_EVALTIME_MAIN)
		return rc;
	if (find_main(hold, &pt, err) < 0)
		return -1;
	return pt.main ? run_to(hold, pt.main, "main", err) : 1;
}

int dt_hold_settle(struct dt_hold *hold, uint64_t evaltime, dt_jail *jail, dt_error *err)
{
	int rc;

	if (hold->settled || hold->gate >= 0)
		return 0;
	while ((rc = run_to_point(hold, evaltime, jail, err)) == 0)
		;
	hold->settled = true;
	if (rc > 0)
		dt_hold_threads(hold); /* its initialisers may have started some */
	return rc < 0 ? -1 : 0;
}

/* ---- starting ---- */

/* Let it exec and stop it there. */
static int enter(struct dt_hold *hold, dt_error *err)
{
	int status, error = 0;

	send(hold->gate, "", 1, MSG_NOSIGNAL);
	for (;;) {
		if (wait_stop(hold, &status, "its exec", err) < 0) {
			if (recv(hold->gate, &error, sizeof(error), MSG_DONTWAIT) == sizeof(error))
				dt_err(err, error, "%s", strerror(error));
			return -1;
		}
		if (is_exec(status))
			break;
		pass_over(hold, PTRACE_CONT, status, NULL);
	}
	close(hold->gate);
	hold->gate = -1;
	*dt_vec_add(&hold->threads, NULL) =
	    (struct dt_held_thread){.tid = (pid_t)hold->pid, .stopped = true};
	return finish_exec(hold, err);
}

/* False: ptrace is refused. */
static bool seize_child(struct dt_hold *hold)
{
	char ready;

	while (recv(hold->gate, &ready, 1, 0) < 0 && errno == EINTR)
		;
	return ptrace(PTRACE_SEIZE, (pid_t)hold->pid, 0, OPTIONS) == 0;
}

struct dt_hold *dt_hold_create(const dt_options *opts, char *const argv[], dt_error *err)
{
	struct dt_hold *hold;
	int gate[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0) {
		dt_err(err, errno, "%s", strerror(errno));
		return NULL;
	}
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		become_command(opts, gate[0], argv);
	}
	close(gate[0]);
	if (pid < 0) {
		dt_err(err, errno, "%s", strerror(errno));
		close(gate[1]);
		return NULL;
	}
	hold = dt_xcalloc(1, sizeof(*hold));
	*hold = (struct dt_hold){.pid = pid, .created = true, .gate = gate[1]};
	if (!seize_child(hold) || enter(hold, err) == 0)
		return hold;
	dt_hold_free(hold);
	return NULL;
}
