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
 * exits when the tracer closes the socket or dies.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/hold.h"

#define LOOK_MS	   250
#define PATIENCE   4 /* checks that find it stopped before it is continued */

struct dt_watch {
	struct dt_companion process;
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

static void watcher(void *arg, pid_t tracer)
{
	char word;

	(void)arg;
	while (read(0, &word, 1) == 1)
		if (word == 'h' && !watch_while_held(tracer))
			break;
}

/* ---- the tracer ---- */

static struct dt_watch *start(void)
{
	struct dt_watch *w = dt_xcalloc(1, sizeof(*w));

	if (dt_companion_start(&w->process, &(struct dt_companion_work){.name = "dtrace-watch", .run = watcher}))
		return w;
	free(w);
	return NULL;
}

void dt_watch(struct dt_watch **w, bool holds)
{
	if (!*w && holds)
		*w = start();
	if (!*w || (*w)->holds == holds)
		return;
	(*w)->holds = holds;
	send((*w)->process.socket, holds ? "h" : "r", 1,
	     MSG_NOSIGNAL | MSG_DONTWAIT); /* fails only if it was killed */
}

void dt_watch_free(struct dt_watch *w)
{
	if (!w)
		return;
	dt_companion_end(&w->process);
	free(w);
}
