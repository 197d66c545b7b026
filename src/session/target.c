/*
 * target: the processes of -c and -p. The first one is $target.
 *
 * A -c command is forked at once, so that $target is known to the compiler, and waits on a socket
 * before it execs; dtrace_go() sends the byte that lets it run. If we die first, it reads the end
 * of the socket and ends: nothing is ever left stopped. A command that cannot be found is reported
 * before the fork. Ends are seen through pidfds, which cannot be confused by a reused pid.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"

static int pidfd_open_(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool is_executable(const char *path, int *error)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		if (*error != EACCES)
			*error = errno;
		return false;
	}
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0) {
		*error = EACCES;
		return false;
	}
	return true;
}

/* The file that execvp() would run: NULL and an errno when there is none. */
static char *find_command(const char *name, int *error)
{
	const char *path = getenv("PATH"), *p, *colon;

	*error = ENOENT;
	if (strchr(name, '/'))
		return is_executable(name, error) ? dt_xstrdup(name) : NULL;
	for (p = path ? path : "/usr/bin:/bin"; *name; p = colon + 1) {
		char *file;

		colon = strchrnul(p, ':');
		file = dt_xasprintf("%.*s/%s", colon == p ? 1 : (int)(colon - p),
				    colon == p ? "." : p, name);
		if (is_executable(file, error))
			return file;
		free(file);
		if (!*colon)
			break;
	}
	return NULL;
}

/* A handler of our user's must not run in the child; what was ignored stays ignored. */
static void default_signal(int sig)
{
	struct sigaction old;

	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		signal(sig, SIG_DFL);
}

/* In the child: wait for the word, then become the command. */
static void become_command(dtrace_hdl_t *h, int hold, const char *file, char *const argv[])
{
	const dt_options *o = &h->opts;
	ssize_t n;
	char go;

	default_signal(SIGINT);
	default_signal(SIGTERM);
	while ((n = read(hold, &go, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(0); /* tracing never began */
	for (uint32_t i = 0; i < o->list[DT_O_UNSETENV].n; i++)
		unsetenv(o->list[DT_O_UNSETENV].v[i]);
	for (uint32_t i = 0; i < o->list[DT_O_SETENV].n; i++)
		putenv(o->list[DT_O_SETENV].v[i]);
	execv(file, argv);
	fprintf(stderr, "dtrace: failed to execute %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static struct dt_target *add_target(dtrace_hdl_t *h, pid_t pid, int pidfd, int hold, bool child)
{
	struct dt_target *t = dt_vec_add(&h->targets, NULL);

	*t = (struct dt_target){.pid = pid, .pidfd = pidfd, .hold_fd = hold, .child = child};
	if (h->targets.n == 1)
		h->macros.target = pid;
	return t;
}

long dtrace_proc_create(dtrace_hdl_t *h, char *const argv[])
{
	int hold[2], error, pidfd;
	char *file;
	pid_t pid;

	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	if (!argv[0])
		return dt_session_err(h, EINVAL, "no command given");
	file = find_command(argv[0], &error);
	if (!file)
		return dt_session_err(h, error, "%s", strerror(error));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hold) < 0) {
		free(file);
		return dt_session_err(h, errno, NULL);
	}
	fflush(NULL); /* or the child could print our buffers again */
	pid = fork();
	if (pid == 0) {
		close(hold[1]);
		become_command(h, hold[0], file, argv);
	}
	error = errno;
	free(file);
	close(hold[0]);
	pidfd = pid > 0 ? pidfd_open_(pid) : -1;
	if (pidfd < 0) {
		error = pid > 0 ? errno : error;
		close(hold[1]);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		return dt_session_err(h, error, NULL);
	}
	add_target(h, pid, pidfd, hold[1], true);
	return pid;
}

int dtrace_proc_grab(dtrace_hdl_t *h, long pid)
{
	int pidfd;

	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	if (pid <= 0 || pid > INT32_MAX)
		return dt_session_err(h, EINVAL, "not a process id");
	pidfd = pidfd_open_((pid_t)pid);
	if (pidfd < 0) /* the kernel says EINVAL for the id of a thread that is not a process */
		return dt_session_err(h, errno, "%s",
				      errno == EINVAL ? "not a process id" : strerror(errno));
	add_target(h, (pid_t)pid, pidfd, -1, false);
	return 0;
}

static void release(struct dt_target *t)
{
	if (t->hold_fd < 0)
		return;
	send(t->hold_fd, "", 1, MSG_NOSIGNAL); /* fails only if it has died while waiting */
	close(t->hold_fd);
	t->hold_fd = -1;
}

void dt_targets_release(dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->targets.n; i++)
		release(&h->targets.v[i]);
}

static void describe_end(const struct dt_target *t, char *text, size_t n)
{
	int status;

	if (!t->child || waitpid(t->pid, &status, 0) != t->pid)
		snprintf(text, n, "pid %d has exited", (int)t->pid);
	else if (WIFSIGNALED(status))
		snprintf(text, n, "pid %d terminated by SIG%s", (int)t->pid,
			 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else if (WEXITSTATUS(status))
		snprintf(text, n, "pid %d exited with status %d", (int)t->pid, WEXITSTATUS(status));
	else
		snprintf(text, n, "pid %d has exited", (int)t->pid);
}

static bool has_ended(const struct dt_target *t, int wait_ms)
{
	struct pollfd fd = {.fd = t->pidfd, .events = POLLIN};

	return poll(&fd, 1, wait_ms) > 0;
}

int dt_targets_reap(dtrace_hdl_t *h)
{
	int rc = 0;

	for (uint32_t i = 0; i < h->targets.n; i++) {
		struct dt_target *t = &h->targets.v[i];
		char text[128];

		if (t->gone || !has_ended(t, 0))
			continue;
		t->gone = true;
		describe_end(t, text, sizeof(text));
		if (dt_session_diag(h, DTRACE_DIAG_NOTE, text) < 0)
			rc = -1;
	}
	return rc;
}

bool dt_targets_all_gone(const dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->targets.n; i++)
		if (!h->targets.v[i].gone)
			return false;
	return h->targets.n > 0;
}

void dt_targets_free(dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->targets.n; i++) {
		struct dt_target *t = &h->targets.v[i];

		if (t->hold_fd >= 0)
			close(t->hold_fd); /* it ends by itself */
		if (t->child && !t->gone) {
			if (t->hold_fd < 0)
				kill(t->pid, SIGTERM);
			if (!has_ended(t, 1000))
				kill(t->pid, SIGKILL);
			waitpid(t->pid, NULL, 0);
		}
		close(t->pidfd);
	}
	dt_vec_free(&h->targets);
}
