/*
 * guard: continues processes that programs have stopped, when the tracer does not. See guard.h.
 *
 * When the tracer has died its programs are detached, but one may still be about to send a signal, and the kernel sends
 * some of them a little later: the guard disarms them first, and looks again several times in the second after.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "proc/guard.h"
#include "proc/hold.h"

#define LOOK_MS	 250
#define PATIENCE 2 /* checks that find the tracer stopped before its targets are continued */

struct dt_guard {
	struct dt_companion process;
	struct dt_guard_list list;
};

static bool is_stopped(long pid)
{
	char state;

	return dt_proc_stat(pid, &state, 3, NULL) && state == 'T';
}

uint32_t dt_guard_continue(const struct dt_guard_list *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct dt_guarded *x = &list->v[i];
		uint64_t pid = __atomic_load_n(&x->pid, __ATOMIC_ACQUIRE);
		uint64_t stops = __atomic_load_n(&x->stops, __ATOMIC_ACQUIRE);

		if (!pid || stops == x->resumed)
			continue;
		kill((pid_t)pid, SIGCONT);
		__atomic_store_n(&x->resumed, stops, __ATOMIC_RELEASE);
		count++;
	}
	return count;
}

void dt_guard_sweep(const struct dt_guard_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		uint64_t pid = __atomic_load_n(&list->v[i].pid, __ATOMIC_ACQUIRE);

		if (pid && __atomic_load_n(&list->v[i].stops, __ATOMIC_ACQUIRE) && is_stopped((long)pid))
			kill((pid_t)pid, SIGCONT);
	}
}

/* ---- the process ---- */

static void release_all(const struct dt_guard_list *list)
{
	__atomic_store_n(list->armed, 0, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 10; i++) {
		dt_guard_continue(list);
		dt_guard_sweep(list);
		nanosleep(&(struct timespec){.tv_nsec = i < 5 ? 10000000 : 150000000}, NULL);
	}
}

/* The tracer ends the guard by a byte; if the socket is closed without one, it has died. */
static void guard(void *arg, pid_t tracer)
{
	const struct dt_guard_list *list = arg;
	struct pollfd fds[] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN}};
	int seen = 0;
	char word;

	for (;;) {
		int n = poll(fds, DT_NELEM(fds), LOOK_MS);

		if (n > 0 && fds[0].revents && read(0, &word, 1) == 1)
			return;
		if (n > 0) {
			release_all(list);
			return;
		}
		seen = is_stopped(tracer) ? seen + 1 : 0;
		if (seen < PATIENCE)
			continue;
		__atomic_store_n(list->armed, 0, __ATOMIC_SEQ_CST);
		dt_guard_continue(list);
	}
}

/* ---- the tracer ---- */

struct dt_guard *dt_guard_start(const struct dt_guard_list *list, dt_error *err)
{
	struct dt_guard *g = dt_xcalloc(1, sizeof(*g));

	g->list = *list;
	if (dt_companion_start(&g->process,
			       &(struct dt_companion_work){.name = "dtrace-guard", .run = guard, .arg = &g->list}))
		return g;
	dt_err(err, errno, "cannot start the process that continues stopped processes: %s", dt_strerror(errno));
	free(g);
	return NULL;
}

bool dt_guard_alive(const struct dt_guard *g)
{
	char c;

	return recv(g->process.socket, &c, 1, MSG_DONTWAIT | MSG_PEEK) != 0;
}

void dt_guard_free(struct dt_guard *g)
{
	if (!g)
		return;
	send(g->process.socket, "e", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	dt_companion_end(&g->process);
	free(g);
}
