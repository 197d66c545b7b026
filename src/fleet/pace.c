/*
 * pace: when there is something to do.
 *
 * Each machine promises from time to time that no record older than T will come; what is older than all promises is passed
 * on. A machine where nothing happens promises once a second. When records of others wait for it, it is asked, and
 * answers at once: so a record is on the screen a round trip after it has come, and a quiet fleet sends next to nothing. It is
 * not done more often than every PACE, or PER_TARGET for each machine: so asking takes a part of the CPU, however many
 * there are. Nor is it done again before all have answered, or are given up: where machines are slow, they set the pace. If the user has set switchrate, that is the pace.
 *
 * A machine that is silent for SILENCE is waited for no more, which is said; its records may then be out of order.
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "fleet/one_target.h"

#define SECOND	   UINT64_C(1000000000)
#define SILENCE	   (5 * SECOND)
#define RELAYS	   4 /* levels of them */
#define PACE	   UINT64_C(4000000)
#define PER_TARGET UINT64_C(100000)
#define CARE	   UINT64_C(5000000)
#define AT_ONCE	   64
#define QUEUE_SHARES (32u << 20) /* bytes of records that may wait, of all machines, in equal shares ... */
#define QUEUE_LEAST  (256u << 10) /* ... of at least that */

/* ---- descriptors ---- */

static void watch(dt_fleet *f, int fd, dt_target *t)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = t};

	if (fd >= 0)
		epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static void watch_targets(dt_fleet *f)
{
	for (; f->watched < f->targets.n; f->watched++)
		if (f->targets.v[f->watched]->link)
			watch(f, dt_link_fd(f->targets.v[f->watched]->link), f->targets.v[f->watched]);
}

void dt_pace_open(dt_fleet *f)
{
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	watch(f, f->timer, NULL);
}

void dt_pace_close(dt_fleet *f)
{
	if (f->epoll < 0)
		return;
	close(f->epoll);
	close(f->timer);
	f->epoll = f->timer = -1;
}

void dt_pace_begin(dt_fleet *f)
{
	if (f->inner_ops->wake_fd)
		watch(f, f->inner_ops->wake_fd(f->inner), NULL);
	watch_targets(f);
}

static void come_back(dt_fleet *f, uint64_t ns)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) + 1}};

	timerfd_settime(f->timer, 0, &when, NULL);
}

/* ---- those of which too much waits ---- */

/*
 * Records wait until the other machines have promised that there are no older ones. If many of one machine do, nothing is read from it
 * meanwhile: its own buffers fill then, and no other machine is the worse for it.
 */
static uint64_t most_waiting(const dt_fleet *f)
{
	uint64_t share = QUEUE_SHARES / (f->targets.n ? f->targets.n : 1);

	return share > QUEUE_LEAST ? share : QUEUE_LEAST;
}

static void hold(dt_fleet *f, dt_target *t, bool held)
{
	struct epoll_event ev = {.events = held ? 0 : EPOLLIN, .data.ptr = t};

	if (t->held != held && t->link)
		epoll_ctl(f->epoll, EPOLL_CTL_MOD, dt_link_fd(t->link), &ev);
	t->held = held;
	t->heard = dt_now();
	t->since = 0;
}

void dt_pace_let_go(dt_fleet *f)
{
	uint32_t still = 0;

	for (uint32_t i = 0; f->holding && i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->held && (f->stopped || t->payer->waiting <= most_waiting(f) / 2))
			hold(f, t, false);
		still += t->held;
	}
	f->holding = still;
}

static void work(dt_fleet *f, dt_target *t)
{
	if (t->held || !dt_target_work(t) || t->payer->waiting <= most_waiting(f) || !t->started)
		return;
	hold(f, t, true);
	f->holding++;
}

/* Those that have sent something; those that have not taken all that we have for them; and a ping each second. */
static void serve(dt_fleet *f)
{
	struct epoll_event ev[AT_ONCE];
	uint64_t now = dt_now(), times;
	int n;

	if (read(f->timer, &times, sizeof(times)) > 0)
		times = 0; /* that it has come is all there is to know */
	do {
		n = epoll_wait(f->epoll, ev, AT_ONCE, 0);
		for (int i = 0; i < n; i++) {
			dt_target *t = ev[i].data.ptr;

			if (t && t->link)
				work(f, t);
		}
	} while (n == AT_ONCE);
	if (now - f->cared < CARE)
		return;
	f->cared = now;
	dt_fleet_care(f);
	dt_pace_promised(f, 0); /* says who is silent */
}

/* ---- promises ---- */

/* A relay waits itself for those behind it. */
static uint64_t patience(const dt_target *t)
{
	return t->relay ? RELAYS * SILENCE : SILENCE;
}

static bool is_quiet(const dt_target *t, uint64_t now)
{
	return now > t->heard && now - t->heard > SILENCE;
}

/* One that says many things, but not what is waited for, is as silent. */
static bool is_awaited(const dt_target *t, uint64_t now)
{
	if (t->held)
		return t->state == DT_T_RUNNING;
	return t->state == DT_T_RUNNING && t->started && !is_quiet(t, now) && !(t->since && now > t->since && now - t->since > patience(t));
}

uint64_t dt_pace_promised(dt_fleet *f, uint64_t here)
{
	uint64_t until = here, now = dt_now();

	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (is_awaited(t, now)) {
			until = t->promise < until ? t->promise : until;
		} else if (t->state == DT_T_RUNNING && t->started && !t->late) {
			dt_target_say(t, DT_DIAG_DROP, "it has been silent for %d seconds: its records may be out of order",
				      (int)((is_quiet(t, now) ? SILENCE : patience(t)) / SECOND));
			t->late = true;
		}
	}
	return until;
}

/* Have all machines promised this? It is asked for each message that comes, so it begins with the machine that had not. */
static bool is_promised(dt_fleet *f, uint64_t time)
{
	uint64_t now = dt_now();

	for (uint32_t k = 0; k < f->targets.n; k++) {
		const dt_target *t;

		f->behind %= f->targets.n;
		t = f->targets.v[f->behind];
		if (is_awaited(t, now) && t->promise < time)
			return false;
		f->behind++;
	}
	return true;
}

static uint64_t pace_of(const dt_fleet *f)
{
	uint64_t pace = f->targets.n * PER_TARGET;

	return f->eager ? (pace > PACE ? pace : PACE) : dt_opt(f->env.opts, DT_O_SWITCHRATE);
}

/*
 * Does some machine still owe an answer? Then asking the others once more would not help: no record is passed on without its promise.
 * It is asked for each message that comes, so it begins with the machine that did.
 */
static bool is_answered(dt_fleet *f, uint64_t now)
{
	for (uint32_t k = 0; k < f->targets.n; k++) {
		const dt_target *t;

		f->owing %= f->targets.n;
		t = f->targets.v[f->owing];
		if (t->asked && !t->held && is_awaited(t, now))
			return false;
		f->owing++;
	}
	return true;
}

void dt_pace_ask(dt_fleet *f)
{
	uint64_t now = dt_now(), until = f->order.v.n && f->order.last > f->wanted ? f->order.last : f->wanted;

	if (!until)
		return;
	if (now - f->asked < pace_of(f)) {
		if (f->eager)
			come_back(f, f->asked + pace_of(f) - now);
		return;
	}
	if (!is_answered(f, now))
		return;
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (!is_awaited(t, now) || t->asked || t->held || t->promise >= until)
			continue;
		if (!t->since) {
			t->since = now;
			t->wanted = until;
		}
		dt_link_send(t->link, DT_M_ASK, NULL);
		dt_link_flush(t->link);
		t->asked = true;
		f->asked = now;
	}
}

void dt_fleet_want(dt_fleet *f)
{
	f->wanted = dt_now_kernel();
	dt_pace_ask(f);
}

bool dt_pace_work(dt_fleet *f)
{
	bool awake = false, ready;
	uint64_t now;

	serve(f);
	watch_targets(f);
	if (!f->eager || f->stopped)
		return false;
	if (f->inner_ops->is_eager)
		f->inner_ops->is_eager(f->inner, &awake);
	now = dt_now();
	if (f->wanted && is_promised(f, f->wanted)) {
		f->wanted = 0;
		return true;
	}
	ready = f->order.v.n && is_promised(f, f->order.first);
	if (!ready && !awake) {
		dt_pace_ask(f);
		return false;
	}
	if (now - f->consumed >= PACE)
		return true;
	come_back(f, f->consumed + PACE - now);
	return false;
}
