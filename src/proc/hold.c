/*
 * hold: stops every thread of a process, and releases them without side effects.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT send no signal and are invisible to the process, except for
 * system calls that end early with EINTR whenever a process is stopped (epoll_wait, see signal(7)).
 * Those that only wait are made again when the thread is released.
 * Threads can start others while the list is read, so it is read again until all threads in it are
 * stopped. A thread in an uninterruptible sleep (a disk, a vfork) does not stop in time, but it
 * cannot run an instruction in user mode before it stops, which is enough. It can be detached only
 * once it has stopped: dt_hold_release() is called again for those.
 *
 * A thread may have been about to receive a signal when it stopped; the signal is delivered when it
 * is released. One that had been stopped by SIGSTOP before is stopped again by the kernel. If we
 * die, the kernel detaches.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/trap.h"
#include "proc/hold.h"

#define WAIT 1000000000 /* ns for threads to stop */
#define LOOKS 4		/* without a nap: most stop at once */

static struct dt_held_thread *find_thread(struct dt_hold *hold, pid_t tid)
{
	for (uint32_t i = 0; i < hold->threads.n; i++)
		if (hold->threads.v[i].tid == tid)
			return &hold->threads.v[i];
	return NULL;
}

static void forget_thread(struct dt_hold *hold, uint32_t i)
{
	hold->threads.v[i] = hold->threads.v[--hold->threads.n];
}

/* Attach to one thread. 0 (also if it is gone or a zombie), or an errno. */
static int seize(struct dt_hold *hold, pid_t tid)
{
	char state;

	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) < 0) {
		int error = errno;

		if (error == ESRCH || !dt_proc_stat(tid, &state, 3, NULL) || state == 'Z' ||
		    state == 'X')
			return 0;
		/* a thread that called exec has taken the id of its process, and is already
		 * attached */
		if (error != EPERM || dt_proc_status(tid, "TracerPid:") != gettid())
			return error;
	}
	*dt_vec_add(&hold->threads, NULL) = (struct dt_held_thread){.tid = tid};
	ptrace(PTRACE_INTERRUPT, tid, 0, 0); /* fails only for one that has died */
	return 0;
}

/* Attach to the remaining threads. Returns how many, or -1 and an errno. */
static int seize_new(struct dt_hold *hold, int *error)
{
	char path[64];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", hold->pid);
	dir = opendir(path);
	if (!dir && errno != ENOENT && errno != ESRCH) { /* no descriptors left, or no permission */
		*error = errno;
		return -1;
	}
	if (!dir)
		return 0; /* it has died */
	while (n >= 0 && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		uint32_t before = hold->threads.n;

		if (tid <= 0 || find_thread(hold, tid))
			continue;
		*error = seize(hold, tid);
		if (*error)
			n = -1;
		else if (hold->threads.n > before)
			n++;
	}
	closedir(dir);
	return n;
}

/* As waitpid(), but a stop at a signal is left as it is: if we are killed, the kernel still delivers the signal then. */
static pid_t look_first(pid_t tid, int *status)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_code == CLD_TRAPPED &&
	    info.si_status >> 8 == 0 && info.si_status != SIGTRAP) {
		*status = info.si_status << 8 | 0x7f;
		return tid;
	}
	return waitpid(tid, status, __WALL | WNOHANG);
}

/* Has it stopped by now, or gone? */
static void look_at(struct dt_hold *hold, uint32_t *i)
{
	struct dt_held_thread *t = &hold->threads.v[*i];
	int status;
	pid_t got = t->stopped ? 0 : look_first(t->tid, &status);

	if (got == 0) {
		++*i;
	} else if (got < 0 || !WIFSTOPPED(status)) {
		if (got == hold->pid) {
			hold->ended = true;
			hold->status = status;
		}
		forget_thread(hold, *i);
	} else {
		t->stopped = true;
		t->signal = status >> 16 ? 0 : WSTOPSIG(status); /* else a stop of ptrace's own */
		++*i;
	}
}

/* How many have not stopped. */
static uint32_t look_at_all(struct dt_hold *hold)
{
	uint32_t running = 0;

	for (uint32_t i = 0; i < hold->threads.n;)
		look_at(hold, &i);
	for (uint32_t i = 0; i < hold->threads.n; i++)
		running += !hold->threads.v[i].stopped;
	return running;
}

/* Do those that have not stopped sleep where they cannot be stopped? Others only wait for a CPU. */
static bool others_sleep(const struct dt_hold *hold)
{
	char state;

	for (uint32_t i = 0; i < hold->threads.n; i++)
		if (!hold->threads.v[i].stopped && dt_proc_stat(hold->threads.v[i].tid, &state, 3, NULL) && state != 'D')
			return false;
	return true;
}

int dt_hold_threads(struct dt_hold *hold)
{
	uint64_t until = dt_now() + WAIT, patient = hold->patience ? dt_now() + hold->patience : until;
	int error = 0;

	for (;;) {
		int fresh = seize_new(hold, &error), looks = 0;
		long nap = 20000;

		if (fresh < 0)
			return error;
		while (look_at_all(hold) && dt_now() < until) {
			if (looks++ < LOOKS) {
				sched_yield();
				continue;
			}
			if (dt_now() > patient && others_sleep(hold))
				return 0;
			nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
			nap = nap < 5000000 ? nap * 2 : nap;
		}
		if (fresh == 0 || dt_now() >= until)
			return 0;
	}
}

struct dt_hold *dt_hold_new(long pid, int *error)
{
	return dt_hold_within(pid, 0, error);
}

struct dt_hold *dt_hold_within(long pid, uint64_t ns, int *error)
{
	struct dt_hold *hold = dt_xcalloc(1, sizeof(*hold));

	hold->pid = pid;
	hold->gate = -1;
	hold->settled = true;
	hold->patience = ns;
	*error = dt_hold_threads(hold);
	if (!*error && hold->threads.n == 0)
		*error = ESRCH; /* nothing but zombies */
	if (hold->threads.n)
		return hold;
	dt_hold_free(hold);
	return NULL;
}

struct dt_hold *dt_hold_begin(long pid)
{
	struct dt_hold *hold = dt_xcalloc(1, sizeof(*hold));
	int error = 0;

	hold->pid = pid;
	hold->gate = -1;
	hold->settled = true;
	if (seize_new(hold, &error) > 0)
		return hold;
	dt_hold_release(hold);
	dt_hold_free(hold);
	return NULL;
}

bool dt_hold_release(struct dt_hold *hold)
{
	look_at_all(hold);
	for (uint32_t i = 0; i < hold->threads.n;) {
		struct dt_held_thread *t = &hold->threads.v[i];

		if (!t->stopped) {
			i++;
			continue;
		}
		if (!t->signal && dt_trap_interrupted(t->tid) && !dt_proc_awaits_signal(t->tid))
			dt_trap_again(t->tid);
		if (ptrace(PTRACE_DETACH, t->tid, 0, t->signal) == 0) {
			forget_thread(hold, i);
		} else { /* killed meanwhile: its parent is not notified before we have waited for it */
			t->stopped = false;
			look_at(hold, &i);
		}
	}
	return hold->threads.n == 0;
}

void dt_hold_free(struct dt_hold *hold)
{
	if (!hold)
		return;
	if (hold->gate >= 0)
		close(hold->gate);
	dt_vec_free(&hold->threads);
	free(hold);
}
