/*
 * wait: waits until there may be work: dtrace_sleep(), or a descriptor for a program with its own
 * event loop.
 *
 * The descriptor is an epoll(7) instance with everything that can bring work: dtrace_interrupt(), the engine's wake-ups,
 * the processes, and a timer for what is due. Processes come and go, so the set is brought up to date after every
 * piece of work.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "session/session.h"

#define LONGEST_SLEEP 10000 /* ms */

struct dt_waiting {
	int epoll, timer;
};

/* Milliseconds until something is due: -1 if only a wake-up can bring work. */
static int sleep_time(const dtrace_hdl_t *h)
{
	uint64_t now = dt_now(), next;

	if (!h->engine_ops || !h->engine_ops->live)
		return -1;
	next = h->consumer ? dt_consumer_next(h->consumer) : now;
	next = next > now ? (next - now + 999999) / 1000000 : 1;
	return next < LONGEST_SLEEP ? (int)next : LONGEST_SLEEP;
}

/* What to wait for, and how many milliseconds at most; -1: for ever. */
static int gather(dtrace_hdl_t *h, dt_pollfds *fds)
{
	int exit_fd = h->engine && h->engine_ops->wake_fd ? h->engine_ops->wake_fd(h->engine) : -1;
	int ms = sleep_time(h), again;

	*dt_vec_add(fds, NULL) = (struct pollfd){.fd = h->wake[0], .events = POLLIN};
	*dt_vec_add(fds, NULL) = (struct pollfd){.fd = exit_fd, .events = POLLIN};
	again = dt_procs_fds(h->procs, fds);
	if (again >= 0 && (ms < 0 || again < ms))
		ms = again;
	again = dt_grow_ms(h);
	if (again >= 0 && (ms < 0 || again < ms))
		ms = again;
	return ms;
}

static void drain(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

void dtrace_sleep(dtrace_hdl_t *h)
{
	dt_pollfds fds = {0};
	int ms = gather(h, &fds);

	if (poll(fds.v, fds.n, ms) > 0 && fds.v[0].revents)
		drain(h->wake[0]);
	dt_vec_free(&fds);
}

void dtrace_interrupt(dtrace_hdl_t *h)
{
	int saved = errno;

	if (write(h->wake[1], "", 1) < 0)
		errno = saved; /* the pipe is full: a wake-up is pending anyway */
	errno = saved;
}

/* ---- the descriptor ---- */

static void bring_up_to_date(dtrace_hdl_t *h)
{
	struct dt_waiting *w = h->waiting;
	struct itimerspec when = {0};
	dt_pollfds fds = {0};
	int ms = gather(h, &fds);

	/* Those that are there already are refused; those that are closed leave by themselves. */
	for (uint32_t i = 0; i < fds.n; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.fd = fds.v[i].fd};

		if (fds.v[i].fd >= 0)
			epoll_ctl(w->epoll, EPOLL_CTL_ADD, fds.v[i].fd, &ev);
	}
	if (h->engine && !h->engine_ops->live)
		ms = 0; /* all that there can be is there */
	if (ms >= 0) {
		when.it_value.tv_sec = ms / 1000;
		when.it_value.tv_nsec = ms ? ms % 1000 * 1000000L : 1;
	}
	timerfd_settime(w->timer, 0, &when, NULL);
	dt_vec_free(&fds);
}

int dtrace_fd(dtrace_hdl_t *h)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct dt_waiting *w;

	if (h->state == DT_SESSION_NEW)
		return dt_session_err(h, EINVAL, "tracing has not been started");
	if (h->waiting)
		return h->waiting->epoll;
	w = h->waiting = dt_xcalloc(1, sizeof(*w));
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->epoll < 0 || w->timer < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->timer, &ev) < 0) {
		dt_session_err(h, errno, NULL);
		dt_wait_free(h);
		return -1;
	}
	bring_up_to_date(h);
	return w->epoll;
}

void dt_wait_done(dtrace_hdl_t *h)
{
	if (!h->waiting)
		return;
	drain(h->wake[0]);
	drain(h->waiting->timer);
	bring_up_to_date(h);
}

void dt_wait_free(dtrace_hdl_t *h)
{
	if (!h->waiting)
		return;
	if (h->waiting->epoll >= 0)
		close(h->waiting->epoll);
	if (h->waiting->timer >= 0)
		close(h->waiting->timer);
	free(h->waiting);
	h->waiting = NULL;
}
