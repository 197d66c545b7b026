/*
 * lossless: option policy=lossless, in this process: which processes programs may stop (translate/tr_lossless.c), and
 * continuing them when the buffers have room.
 *
 * Those are the processes of the session: of -c and -p, those that pid probes name, and with option follow their
 * children. Others would be a danger to the machine: one of them may be the terminal that this process writes to.
 */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "bpf/run/ring.h"
#include "proc/control.h"
#include "proc/guard.h"

_Static_assert(sizeof(struct dt_guarded) == DT_OURS_SIZE && offsetof(struct dt_guarded, stops) == 8,
	       "tr_lossless.c counts in it");

#define SWEEP_INTERVAL 100000000ull   /* nanoseconds between looking for processes that were stopped late ... */
#define SWEEP_TIME     10000000000ull /* ... until this long after the last stop */

struct dt_lossless {
	struct dt_guard_list list;
	struct dt_guard *guard;
	uint64_t stops;
	uint64_t stopped, swept; /* when */
};

/* ---- which processes ---- */

static struct dt_guarded *entry_of(const struct dt_lossless *l, uint64_t pid)
{
	for (uint32_t i = 0; i < l->list.n; i++)
		if (l->list.v[i].pid == pid)
			return &l->list.v[i];
	return NULL;
}

static bool has_ended(const dt_bpf *e, uint64_t pid)
{
	const dt_proc *p = dt_procs_find(e->procs, (long)pid);

	return !p || p->state == DT_PROC_GONE;
}

static void update_list(dt_bpf *e)
{
	struct dt_lossless *l = e->lossless;
	struct dt_guarded *x;
	const dt_proc *p;

	for (uint32_t i = 0; i < l->list.n; i++)
		if (l->list.v[i].pid && has_ended(e, l->list.v[i].pid))
			__atomic_store_n(&l->list.v[i].pid, 0, __ATOMIC_RELEASE);
	for (uint32_t i = 0; (p = dt_procs_nth(e->procs, i)); i++) {
		if (p->state == DT_PROC_GONE || entry_of(l, (uint64_t)p->pid) || !(x = entry_of(l, 0)) ||
		    kill((pid_t)p->pid, 0) < 0)
			continue;
		x->stops = x->resumed = 0;
		__atomic_store_n(&x->pid, (uint64_t)p->pid, __ATOMIC_RELEASE);
	}
}

/* ---- continuing ---- */

static void resume(struct dt_lossless *l)
{
	uint64_t now = dt_now();
	uint32_t n = dt_guard_continue(&l->list);

	l->stops += n;
	if (n)
		l->stopped = now;
	if (l->stopped && now - l->stopped < SWEEP_TIME && now - l->swept > SWEEP_INTERVAL) {
		dt_guard_sweep(&l->list);
		l->swept = now;
	}
}

static bool has_guard(struct dt_lossless *l, dt_error *err)
{
	if (l->guard && !dt_guard_alive(l->guard)) {
		dt_guard_free(l->guard);
		l->guard = NULL;
	}
	if (!l->guard)
		l->guard = dt_guard_start(&l->list, err);
	return l->guard != NULL;
}

/* Without a guard nothing is stopped: then there are drops, and they are counted. */
void dt_lossless_continue(dt_bpf *e)
{
	dt_error ignored;
	bool armed;

	if (!e->lossless || e->state != BPF_RUNNING)
		return;
	armed = has_guard(e->lossless, &ignored);
	__atomic_store_n(dt_control(e, CTL_ARMED), armed, __ATOMIC_SEQ_CST);
	update_list(e);
	resume(e->lossless);
}

int dt_lossless_begin(dt_bpf *e, dt_error *err)
{
	struct dt_lossless *l;

	if (!e->plan.buffers.lossless)
		return 0;
	l = e->lossless = dt_xcalloc(1, sizeof(*l));
	l->list = (struct dt_guard_list){.armed = dt_control(e, CTL_ARMED),
					 .v = (struct dt_guarded *)(void *)dt_control(e, CTL_OURS),
					 .n = DT_OURS_MAX};
	update_list(e);
	if (!has_guard(l, err))
		return -1;
	__atomic_store_n(l->list.armed, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void dt_lossless_end(dt_bpf *e)
{
	if (!e->lossless)
		return;
	__atomic_store_n(e->lossless->list.armed, 0, __ATOMIC_SEQ_CST);
	dt_ring_quiesce(e, DT_RING_PATIENCE);
	resume(e->lossless);
	dt_guard_sweep(&e->lossless->list);
}

void dt_lossless_free(dt_bpf *e)
{
	struct dt_lossless *l = e->lossless;

	if (!l)
		return;
	dt_lossless_end(e);
	dt_guard_free(l->guard);
	free(l);
	e->lossless = NULL;
}

uint64_t dt_lossless_stops(const dt_bpf *e)
{
	return e->lossless ? e->lossless->stops : 0;
}
