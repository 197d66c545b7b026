/*
 * watch: continues a tracer that is stopped while it holds other processes.
 *
 * Only the tracer can release a process that it holds. If it is stopped itself meanwhile (SIGSTOP, Ctrl-Z), that process
 * waits until the tracer is continued. So a separate process watches the tracer: if the tracer has
 * been stopped for a second while it holds others, it is continued (SIGCONT). It attaches its
 * probes, releases the processes, and can be stopped again.
 *
 * The watcher is started when the first process is held, and sleeps when none is. The tracer
 * informs it through a socket: a byte 'h' when it begins to hold, 'r' when all are released; it
 * exits when the tracer closes the socket or dies. It has no other descriptors, is in its own
 * session, so that signals for the tracer's process group do not reach it, and sends no SIGCHLD
 * when it exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/hold.h"

#define LOOK_MS	   250
#define PATIENCE   4 /* checks that find it stopped before it is continued */
#define FIRST_FREE 2 /* descriptors of the watcher: 0 is the socket, 1 the tracer */

struct dt_watch {
	pid_t pid;
	int socket;
	bool holds;
};

/* ---- the watcher ---- */

/* Check the tracer periodically until it says that it holds none. False: it is gone. */
static bool watch_while_held(pid_t tracer)
{
	struct pollfd fds[] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN}};
	int seen = 0;
	char state, word;

	for (;;) {
		int n = poll(fds, DT_NELEM(fds), LOOK_MS);

		if (n > 0 && (fds[1].revents || read(0, &word, 1) != 1))
			return false;
		if (n > 0 && word == 'r')
			return true;
		if (n != 0)
			continue;
		seen = dt_proc_stat(tracer, &state, 3, NULL) && state == 'T' ? seen + 1 : 0;
		if (seen < PATIENCE)
			continue;
		syscall(SYS_pidfd_send_signal, 1, SIGCONT, NULL, 0);
		seen = 0;
	}
}

static _Noreturn void watcher(pid_t tracer, int pidfd, int from)
{
	sigset_t none;
	char word;

	setsid();
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "dtrace-watch");
	from = fcntl(from, F_DUPFD, FIRST_FREE);
	pidfd = fcntl(pidfd, F_DUPFD, FIRST_FREE);
	if (from < 0 || pidfd < 0 || dup2(from, 0) < 0 || dup2(pidfd, 1) < 0 || chdir("/") < 0)
		_exit(1);
	syscall(SYS_close_range, FIRST_FREE, ~0u, 0);
	while (read(0, &word, 1) == 1)
		if (word == 'h' && !watch_while_held(tracer))
			break;
	_exit(0);
}

/* ---- the tracer ---- */

static struct dt_watch *start(void)
{
	int ends[2], pidfd = dt_proc_pidfd(getpid());
	struct dt_watch *w = NULL;
	pid_t tracer = getpid(), pid = -1;

	if (pidfd < 0)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
		pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0,
				     0); /* fork() without a signal at its end */
		if (pid == 0) {
			close(ends[1]);
			watcher(tracer, pidfd, ends[0]);
		}
		close(ends[0]);
		if (pid < 0)
			close(ends[1]);
	}
	close(pidfd);
	if (pid < 0)
		return NULL;
	w = dt_xcalloc(1, sizeof(*w));
	*w = (struct dt_watch){.pid = pid, .socket = ends[1]};
	return w;
}

void dt_watch(struct dt_watch **w, bool holds)
{
	if (!*w && holds)
		*w = start();
	if (!*w || (*w)->holds == holds)
		return;
	(*w)->holds = holds;
	send((*w)->socket, holds ? "h" : "r", 1,
	     MSG_NOSIGNAL | MSG_DONTWAIT); /* fails only if it was killed */
}

void dt_watch_free(struct dt_watch *w)
{
	if (!w)
		return;
	close(w->socket);
	while (waitpid(w->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	free(w);
}
