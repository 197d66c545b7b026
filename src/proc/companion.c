/*
 * companion: a small process that looks after others while the tracer may be stopped or dead.
 *
 * It is in its own session, so that signals for the tracer's process group do not reach it, and sends no SIGCHLD when
 * it exits. It has two descriptors: 0 is a socket to the tracer, 1 a pidfd of the tracer.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/hold.h"

#define FIRST_FREE 2

static _Noreturn void run(const struct dt_companion_work *work, pid_t tracer, int pidfd, int from)
{
	sigset_t none;

	setsid();
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, work->name);
	from = fcntl(from, F_DUPFD, FIRST_FREE);
	pidfd = fcntl(pidfd, F_DUPFD, FIRST_FREE);
	if (from < 0 || pidfd < 0 || dup2(from, 0) < 0 || dup2(pidfd, 1) < 0 || chdir("/") < 0)
		_exit(1);
	syscall(SYS_close_range, FIRST_FREE, ~0u, 0);
	work->run(work->arg, tracer);
	_exit(0);
}

bool dt_companion_start(struct dt_companion *c, const struct dt_companion_work *work)
{
	int ends[2], pidfd = dt_proc_pidfd(getpid());
	pid_t tracer = getpid(), pid = -1;

	if (pidfd < 0)
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
		pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0,
				     0); /* fork() without a signal at its end */
		if (pid == 0) {
			close(ends[1]);
			run(work, tracer, pidfd, ends[0]);
		}
		close(ends[0]);
		if (pid < 0)
			close(ends[1]);
	}
	close(pidfd);
	*c = (struct dt_companion){.pid = pid, .socket = ends[1]};
	return pid > 0;
}

void dt_companion_end(struct dt_companion *c)
{
	if (c->pid <= 0)
		return;
	close(c->socket);
	while (waitpid(c->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	c->pid = 0;
}
