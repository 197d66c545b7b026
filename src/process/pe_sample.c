/*
 * pe_sample: profile: threads of the target that run are stopped for a moment, and sent through a stub that fires the probe
 * (dt_trap_divert). So the clauses run in the thread, with its registers, its stack and its variables, as those of any other
 * probe; the program sees no signal. A timer of the kernel would need a handler in the program, and interrupt its system calls.
 *
 * A thread is left alone
 *   - when it sleeps. If it is about to, the few system calls that end with EINTR then (epoll_wait ...) are made again
 *   - in a probe, or its stub
 *   - in a restartable sequence (rseq): the kernel could not see that it was interrupted
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/trap.h"
#include "process/process.h"

#define TURNS	 100 /* looks at a thread that is to stop ... */
#define NAP	 20000 /* ... with this many nanoseconds between them, after the first few */
#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

/* ---- threads that run ---- */

static bool runs(int tasks, const char *tid)
{
	char path[64], text[512], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.20s/stat", tid);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ')');
	return at && at[1] && at[2] == 'R';
}

/* ---- one thread ---- */

enum stopped { NOT_YET, STOPPED, GONE };

/* signal: what it is about to get; -1: it stopped because we asked for it. */
static enum stopped look(const struct dt_pe_sampler *s, pid_t tid, int *signal)
{
	siginfo_t info = {0};
	bool exits = !(s->child && tid == s->target->pid); /* the exit of our child belongs to the session */

	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | (exits ? WEXITED : 0) | WNOHANG | __WALL) < 0)
		return errno == EINTR ? NOT_YET : GONE;
	if (!info.si_pid)
		return NOT_YET;
	if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
		return GONE;
	*signal = info.si_status >> 8 == PTRACE_EVENT_STOP ? (info.si_status & 0xff) == SIGTRAP ? -1 : 0 : info.si_status;
	return STOPPED;
}

static enum stopped wait_for(const struct dt_pe_sampler *s, pid_t tid, int *signal)
{
	for (int i = 0; i < TURNS; i++) {
		enum stopped now = look(s, tid, signal);

		if (now != NOT_YET)
			return now;
		if (i < TURNS / 5)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
	}
	return NOT_YET;
}

/* False: it was killed meanwhile. It stays, and with it its process, until its end has been seen. */
static bool release(pid_t tid, int signal)
{
	return ptrace(PTRACE_DETACH, tid, 0, (long)(signal > 0 ? signal : 0)) == 0;
}

static void sample(struct dt_pe_sampler *s, pid_t tid, uint64_t stub)
{
	struct dt_trap_regs regs;
	int signal = 0;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0)
		return;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	switch (wait_for(s, tid, &signal)) {
	case GONE: return;
	case NOT_YET: *dt_vec_add(&s->late, NULL) = tid; return;
	case STOPPED: break;
	}
	if (signal < 0 && dt_trap_interrupted(tid)) {
		if (!dt_proc_awaits_signal(tid))
			dt_trap_again(tid);
	} else if (signal < 0 && dt_trap_regs(tid, &regs) == 0 && !dt_pe_target_is_inside(s->target, regs.pc) &&
	    !dt_pe_in_sequence(s->target, tid, regs.pc))
		dt_trap_divert(tid, stub);
	if (!release(tid, signal))
		*dt_vec_add(&s->late, NULL) = tid;
}

void dt_pe_sample_late(struct dt_pe_sampler *s)
{
	pthread_mutex_lock(&s->target->tracing);
	for (uint32_t i = 0; i < s->late.n;) {
		int signal = 0;
		enum stopped now = look(s, s->late.v[i], &signal);

		if (now == NOT_YET || (now == STOPPED && !release(s->late.v[i], signal)))
			i++;
		else
			s->late.v[i] = s->late.v[--s->late.n];
	}
	pthread_mutex_unlock(&s->target->tracing);
}

void dt_pe_sample(struct dt_pe_sampler *s, uint64_t stub)
{
	char path[64];
	struct dirent *x;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", s->target->pid);
	dir = opendir(path);
	pthread_mutex_lock(&s->target->tracing);
	while (dir && (x = readdir(dir))) {
		pid_t tid = (pid_t)strtol(x->d_name, NULL, 10);

		if (tid > 0 && runs(dirfd(dir), x->d_name))
			sample(s, tid, stub);
	}
	pthread_mutex_unlock(&s->target->tracing);
	if (dir)
		closedir(dir);
}
