/*
 * run: runs a session. go: opens an engine on the enabled ECBs, BEGIN runs, the target processes
 * are released. work: takes the engine's records and prints them. stop: END runs.
 */
#include <errno.h>
#include <stdlib.h>

#include "session/session.h"

static bool is_destructive(const dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->ecbs.n; i++)
		if (h->ecbs.v[i].clause->destructive)
			return true;
	return false;
}

/* Option policy=lossless: is there a process that may be stopped? */
static int check_policy(dtrace_hdl_t *h)
{
	if (dt_opt(&h->opts, DT_O_POLICY) != DT_POLICY_LOSSLESS)
		return 0;
	if (!dt_opt(&h->opts, DT_O_DESTRUCTIVE))
		return dt_session_err(h, EDT_DESTRUCTIVE, "policy=lossless stops processes: permit that with -w");
	if (dt_opt(&h->opts, DT_O_BUFPOLICY) != DT_BUFPOLICY_SWITCH)
		return dt_session_err(h, EINVAL, "policy=lossless is not available with bufpolicy=%s",
				      dt_opt(&h->opts, DT_O_BUFPOLICY) == DT_BUFPOLICY_FILL ? "fill" : "ring");
	if (!dt_procs_nth(h->procs, 0))
		return dt_session_err(h, EINVAL, "policy=lossless needs a process that it may stop: use -c or -p");
	return 0;
}

/* It did not start: the caller may change something and try again. */
static void close_engine(dtrace_hdl_t *h)
{
	h->engine_ops->close(h->engine);
	h->engine = NULL;
}

/* Only needed by an engine that attaches to them. */
static int find_events(dtrace_hdl_t *h)
{
	int rc = 0;

	dt_events_begin(h);
	for (uint32_t i = 0; i < h->ecbs.n && h->engine_ops->live && rc == 0; i++)
		rc = dt_events_of(h, &h->ecbs.v[i], &h->err);
	return rc;
}

/* The processes of -p have run until now; they are stopped while tracing begins. An engine that enters them does that itself. */
static void hold_processes(void *arg)
{
	dtrace_hdl_t *h = arg;

	dt_grow_begin(h);
	if (!h->engine_ops->enters && dt_procs_hold(h->procs))
		dt_grow_anew(h);
}

int dtrace_go(dtrace_hdl_t *h)
{
	struct dt_engine_env env = {
	    .opts = &h->opts,
	    .types = h->types,
	    .kfuncs = dt_probes_kfuncs(h->probes),
	    .procs = h->procs,
	    .fleet = h->fleet,
	    .progress = &h->progress,
	    .eager = h->here.is_agent,
	    .ready = hold_processes,
	    .ready_arg = h,
	};
	int rc;

	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	if (dt_opt(&h->opts, DT_O_GRABANON))
		return dt_session_err(h, EDT_NOANON, NULL);
	if (dt_output_check(h) < 0)
		return -1;
	if (is_destructive(h) && !dt_opt(&h->opts, DT_O_DESTRUCTIVE))
		return dt_session_err(h, EDT_DESTRUCTIVE, NULL);
	if (check_policy(h) < 0)
		return -1;
	if (dt_engine_choose(h) < 0)
		return -1;
	memset(&h->err, 0, sizeof(h->err));
	if (dt_options_settle(&h->opts, &h->err) < 0)
		return dt_session_fail(h);
	if (find_events(h) < 0)
		return dt_session_fail(h);
	env.ecbs = h->ecbs.v;
	env.necbs = h->ecbs.n;
	env.clauses = h->clauses.v;
	env.nclauses = h->clauses.n;
	dt_symbols_open(h);
	if (dt_engine_open(h, &env) < 0)
		return -1;
	if (h->engine_ops->go(h->engine, &h->err) < 0) {
		close_engine(h);
		return dt_session_fail(h);
	}
	if (h->err.text[0] && dt_session_diag(h, DT_DIAG_NOTE, h->err.text) < 0) {
		close_engine(h);
		return dt_session_err(h, EDT_DIRABORT, NULL);
	}
	h->state = DT_SESSION_ACTIVE;
	if (h->engine_ops->enters && dt_procs_changed(h->procs)) /* while probes were placed */
		dt_grow_anew(h);
	rc = dt_grow_update(h);
	dt_procs_release(h->procs);
	return rc < 0 ? dt_session_err(h, EDT_DIRABORT, NULL) : 0;
}

void dtrace_progress(dtrace_hdl_t *h, struct dtrace_progress *out)
{
	struct dt_step s = dt_progress_now(&h->progress);
	struct dtrace_progress p = {.size = out->size, .total = s.total};

	p.done = s.done < s.total ? s.done : s.total;
	dt_make_safe(s.what, strlen(s.what), false);
	snprintf(p.what, sizeof(p.what), "%s", s.what);
	memcpy(out, &p, out->size < sizeof(p) ? out->size : sizeof(p));
}

int dtrace_stop(dtrace_hdl_t *h)
{
	if (h->state != DT_SESSION_ACTIVE)
		return 0;
	/* Nothing fires any more, and what is in the buffers is read, so that there is space for END. A
	 * write error is reported by the next dtrace_work(). */
	if (h->engine_ops->halt)
		h->engine_ops->halt(h->engine);
	if (h->consumer && h->engine_ops->live && dt_symbols_update(h) == 0)
		dt_consumer_work(h->consumer, h->engine_ops, h->engine, true, &h->err);
	memset(&h->err, 0, sizeof(h->err));
	h->state = DT_SESSION_STOPPED;
	return h->engine_ops->stop(h->engine, &h->err) < 0 ? dt_session_fail(h) : 0;
}

/* ---- consuming ---- */

int dt_session_update_processes(dtrace_hdl_t *h)
{
	if (dt_procs_poll(h->procs) < 0 || dt_grow_update(h) < 0)
		return dt_session_err(h, EDT_DIRABORT, NULL);
	return 0;
}

static enum dtrace_work_status work(dtrace_hdl_t *h, FILE *out)
{
	int rc;

	if (h->state == DT_SESSION_NEW) {
		dt_session_err(h, EINVAL, "tracing has not been started");
		return DTRACE_WORK_ERROR;
	}
	if (dt_grow_is_awaited(h) &&
	    dt_grow_update(h) < 0) { /* a process waits: before anything else */
		dt_session_err(h, EDT_DIRABORT, NULL);
		return DTRACE_WORK_ERROR;
	}
	if (dt_output_open(h, out) < 0)
		return DTRACE_WORK_ERROR;
	if (dt_symbols_update(h) < 0) {
		dt_session_err(h, EDT_DROPABORT, NULL);
		return DTRACE_WORK_ERROR;
	}
	memset(&h->err, 0, sizeof(h->err));
	rc = dt_consumer_work(h->consumer, h->engine_ops, h->engine, false, &h->err);
	if (rc < 0) {
		dt_session_fail(h);
		return DTRACE_WORK_ERROR;
	}
	if (dt_session_update_processes(h) < 0)
		return DTRACE_WORK_ERROR;
	if (rc > 0 || h->state == DT_SESSION_STOPPED || dt_procs_all_gone(h->procs))
		return DTRACE_WORK_DONE;
	return DTRACE_WORK_OKAY;
}

enum dtrace_work_status dtrace_work(dtrace_hdl_t *h, FILE *out)
{
	enum dtrace_work_status st = work(h, out);

	dt_wait_done(h);
	return st;
}

int dtrace_exit_status(const dtrace_hdl_t *h)
{
	return h->consumer ? dt_consumer_exit_status(h->consumer) : 0;
}

int dtrace_aggregate_show(dtrace_hdl_t *h)
{
	if (!h->consumer)
		return 0;
	memset(&h->err, 0, sizeof(h->err));
	return dt_consumer_show_aggs(h->consumer, &h->err) < 0 ? dt_session_fail(h) : 0;
}

int dtrace_aggregate_print(dtrace_hdl_t *h, FILE *out)
{
	if (h->state == DT_SESSION_NEW)
		return 0;
	if (dt_output_open(h, out) < 0)
		return -1;
	memset(&h->err, 0, sizeof(h->err));
	if (dt_consumer_print_aggs(h->consumer, &h->err) < 0)
		return dt_session_fail(h);
	return dt_symbols_report(h) < 0 ? dt_session_err(h, EDT_DROPABORT, NULL) : 0;
}

void dtrace_abandon(dtrace_hdl_t *h)
{
	h->stop = 1;
}
