/*
 * fleet_engine: the engine of a session with other machines: that of this machine, and all targets.
 *
 * Records of all of them wait in one queue (order.c) until no older one can come (pace.c). The queue is bounded: above
 * QUEUE_MAX everything in it is passed on, which is said once.
 *
 * BEGIN fires here before the targets start. At the end they stop first and send what they have; then END fires here.
 */
#include <stdlib.h>

#include "base/budget.h"
#include "fleet/one_target.h"

#define SECOND	  UINT64_C(1000000000)
#define QUEUE_MAX (64u << 20)
#define PER_TARGET UINT64_C(5000000) /* of the time between two looks for new ones */

void dt_fleet_set_inner(dt_fleet *f, const struct dt_engine_ops *inner)
{
	f->inner_ops = inner;
}

/* ---- opening and closing ---- */

static dt_engine *fleet_open(const struct dt_engine_env *env, dt_error *err)
{
	dt_fleet *f = env->fleet;
	struct dt_engine_env own = *env;

	own.eager = f->eager = !env->opts->is_set[DT_O_SWITCHRATE];
	f->inner = f->inner_ops->open(&own, err);
	if (!f->inner)
		return NULL;
	f->epid = env->necbs;
	if (dt_rest_open(f, env, err) < 0) {
		f->inner_ops->close(f->inner);
		return NULL;
	}
	dt_pace_open(f);
	return (dt_engine *)f;
}

static void fleet_close(dt_engine *e)
{
	dt_fleet *f = (dt_fleet *)e;

	f->inner_ops->close(f->inner);
	f->inner = NULL;
	dt_rest_close(f);
	dt_pace_close(f);
	dt_accounts_report(f);
	for (uint32_t i = 0; i < f->targets.n; i++) { /* an agent detaches when it sees that we are gone */
		dt_link_free(f->targets.v[i]->link);
		f->targets.v[i]->link = NULL;
	}
}

uint32_t dt_fleet_epid(dt_fleet *f)
{
	return ++f->epid;
}

/* ---- begin and end ---- */

static bool has_started(const dt_target *t)
{
	return t->state == DT_T_NEW || t->started;
}

static int fleet_go(dt_engine *e, dt_error *err)
{
	dt_fleet *f = (dt_fleet *)e;

	if (f->inner_ops->go(f->inner, err) < 0)
		return -1;
	f->going = true;
	dt_accounts_set_limits(f);
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->state != DT_T_KNOWN)
			continue;
		dt_link_send(t->link, DT_M_GO, NULL);
		t->state = DT_T_RUNNING;
		t->heard = dt_now();
	}
	dt_fleet_wait(f, has_started, &(struct dt_patience){dt_fleet_silence(f), DT_MAX_TARGET_WAIT, "it does not start"});
	dt_pace_begin(f);
	return f->aborted ? dt_err(err, EDT_DIRABORT, NULL) : 0;
}

static bool has_stopped(const dt_target *t)
{
	return t->state != DT_T_STOPPING;
}

static void fleet_halt(dt_engine *e)
{
	dt_fleet *f = (dt_fleet *)e;

	if (f->inner_ops->halt)
		f->inner_ops->halt(f->inner);
}

/* Each has been reported; the first of many messages are not on the screen any more. */
static void count_lost(dt_fleet *f)
{
	dt_buf b = {0};

	if (!f->lost)
		return;
	dt_buf_printf(&b, "machines lost before the end of the session: %u", f->lost);
	dt_fleet_tell(f, DT_DIAG_DROP, b.s);
	dt_buf_free(&b);
}

static int fleet_stop(dt_engine *e, dt_error *err)
{
	dt_fleet *f = (dt_fleet *)e;

	f->stopped = true;
	dt_pace_let_go(f);
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->state != DT_T_RUNNING)
			continue;
		dt_link_send(t->link, DT_M_STOP, NULL);
		t->state = DT_T_STOPPING;
		t->heard = dt_now();
	}
	dt_fleet_wait(f, has_stopped,
		      &(struct dt_patience){dt_fleet_silence(f), DT_MAX_TARGET_WAIT, "it has not sent its last data"});
	count_lost(f);
	return f->inner_ops->stop(f->inner, err);
}

/* ---- while it runs ---- */

static bool fleet_attend(dt_engine *e)
{
	dt_fleet *f = (dt_fleet *)e;
	bool filling = f->inner_ops->attend && f->inner_ops->attend(f->inner);

	if (!f->stopped && dt_now() - f->scanned >= (f->targets.n * PER_TARGET > SECOND ? f->targets.n * PER_TARGET : SECOND))
		dt_fleet_scan(f); /* all that are there answer, too */
	return dt_pace_work(f) || filling || f->order.bytes > QUEUE_MAX || f->exiting;
}

static int fleet_status(dt_engine *e, dt_status *st)
{
	dt_fleet *f = (dt_fleet *)e;
	int rc = f->inner_ops->status(f->inner, st);

	st->running = !f->stopped;
	dt_accounts_report(f);
	dt_rest_status(f, st);
	if (f->exiting && !st->exiting) {
		st->exiting = true;
		st->exit_status = f->exit_status;
	}
	return rc;
}

static int take_record(void *arg, const dt_record *r)
{
	dt_fleet *f = arg;

	dt_order_add(&f->order, r, 0, NULL);
	return 0;
}

struct passing {
	dt_fleet *f;
	const dt_sink *sink;
};

static int pass(void *arg, const struct dt_waiting_record *w)
{
	const struct passing *p = arg;
	const dt_record *r = &w->rec;

	return r->ecb->clause->rest && !r->fault && p->f->rest ? dt_rest_run(p->f, w, p->sink) : p->sink->record(p->sink->arg, r);
}

static int fleet_consume(dt_engine *e, const dt_sink *sink)
{
	dt_fleet *f = (dt_fleet *)e;
	uint64_t until = dt_now_kernel();
	dt_sink own = {.arg = f, .record = take_record};
	int rc = f->inner_ops->consume(f->inner, &own);

	if (rc < 0)
		return rc;
	until = f->stopped ? UINT64_MAX : dt_pace_promised(f, until);
	f->released = until;
	if (f->order.bytes > QUEUE_MAX && until != UINT64_MAX) {
		if (!f->overflowed)
			dt_fleet_tell(f, DT_DIAG_DROP,
				      "more records wait for slow machines than there is room for: some may be out of order");
		f->overflowed = true;
		until = UINT64_MAX;
	}
	rc = dt_order_release(&f->order, until, pass, &(struct passing){f, sink});
	f->consumed = dt_now();
	dt_pace_let_go(f);
	if (!f->stopped)
		dt_pace_ask(f);
	return rc == 0 && f->aborted ? -1 : rc;
}

uint64_t dt_fleet_released(const dt_fleet *f)
{
	return f->released;
}

static int fleet_snapshot(dt_engine *e, const dt_sink *sink, dt_error *err)
{
	dt_fleet *f = (dt_fleet *)e;
	int rc = f->inner_ops->snapshot ? f->inner_ops->snapshot(f->inner, sink, err) : 0;

	if (rc >= 0 && f->rest)
		rc = dt_engine_vm.snapshot(f->rest, sink, err);
	for (uint32_t i = 0; i < f->rows.n; i++) {
		struct dt_fleet_row *r = &f->rows.v[i];

		dt_account_give(r->payer, r->cost);
		if (rc >= 0)
			rc = sink->far_agg ? sink->far_agg(sink->arg, r->payer, r->agg, r->keys, r->words)
					   : sink->agg(sink->arg, r->agg, 0, r->keys, r->words);
		free(r->keys);
	}
	f->rows.n = 0;
	dt_accounts_report(f);
	return rc;
}

/* attend() says when there is something. */
static bool fleet_is_eager(const dt_engine *e, bool *awake)
{
	(void)e;
	*awake = false;
	return true;
}

static int fleet_wake_fd(const dt_engine *e)
{
	return ((const dt_fleet *)e)->epoll;
}

/* ---- passed on to the engine of this machine ---- */

static int fleet_extend(dt_engine *e, dt_ecb *ecbs, uint32_t n, dt_error *err)
{
	dt_fleet *f = (dt_fleet *)e;

	for (uint32_t i = 0; i < n; i++)
		if (dt_rest_add(f, &ecbs[i], err) < 0)
			return -1;
	return f->inner_ops->extend ? f->inner_ops->extend(f->inner, ecbs, n, err) : 0;
}

static int fleet_gate(dt_engine *e, const char *path, uint64_t offset, long pid, dt_error *err)
{
	dt_fleet *f = (dt_fleet *)e;

	return f->inner_ops->gate(f->inner, path, offset, pid, err);
}

static uint64_t fleet_arrived(const dt_engine *e)
{
	const dt_fleet *f = (const dt_fleet *)e;

	return f->inner_ops->arrived(f->inner);
}

static long fleet_comer(const dt_engine *e, uint64_t n)
{
	const dt_fleet *f = (const dt_fleet *)e;

	return f->inner_ops->comer(f->inner, n);
}

static void fleet_admit(dt_engine *e, uint64_t n)
{
	dt_fleet *f = (dt_fleet *)e;

	f->inner_ops->admit(f->inner, n);
}

static void fleet_adopt(dt_engine *e, long pid, long parent)
{
	dt_fleet *f = (dt_fleet *)e;

	f->inner_ops->adopt(f->inner, pid, parent);
}

static void fleet_retire(dt_engine *e, long pid)
{
	dt_fleet *f = (dt_fleet *)e;

	if (f->inner_ops->retire)
		f->inner_ops->retire(f->inner, pid);
}

const struct dt_engine_ops dt_engine_fleet = {
    .name = "fleet",
    .open = fleet_open,
    .go = fleet_go,
    .halt = fleet_halt,
    .stop = fleet_stop,
    .status = fleet_status,
    .consume = fleet_consume,
    .snapshot = fleet_snapshot,
    .extend = fleet_extend,
    .gate = fleet_gate,
    .arrived = fleet_arrived,
    .comer = fleet_comer,
    .admit = fleet_admit,
    .adopt = fleet_adopt,
    .retire = fleet_retire,
    .attend = fleet_attend,
    .is_eager = fleet_is_eager,
    .wake_fd = fleet_wake_fd,
    .live = true,
    .close = fleet_close,
};
