/*
 * consumer: from an engine's records to events for a writer.
 *
 * One call of dt_consumer_work() does what is due: report losses, walk the records, take the
 * aggregations. A record is walked by the statements of its clause (statements.c); one with several
 * parts (engine/record_plan.h) is one record for the writer, which ends with the next record, a
 * fault, or when there are no more: an engine gives all parts of a firing at once.
 *
 * The writer fills a buffer; after every record the buffer goes to the output stream, which is the
 * caller's, or a file opened by freopen(); or to a function, in larger pieces. An output error ends
 * the work with its errno. A second writer can get the same events; its output goes to a function of
 * its own. What the first one decides (which messages are in the output, whether a file is replaced)
 * is decided without it.
 *
 * For -F a return depends on the next record (flow.c), so it is held back until the next record or
 * the end of the batch.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "consume/consumer.h"

#define EMIT_AT_ONCE 65536 /* bytes to wait for, where output goes to a function */

dt_consumer *dt_consumer_new(const struct dt_consumer_env *env)
{
	dt_consumer *c = dt_xcalloc(1, sizeof(*c));

	c->env = *env;
	c->ops = env->writer ? env->writer : &dt_writer_text;
	dt_consumer_set_output(c, env->out);
	c->w = c->ops->open(&c->env);
	if (env->also)
		c->also = env->also->open(&c->env);
	c->aggs = dt_aggs_new(&c->env);
	c->losses = dt_losses_new();
	c->faults = dt_faults_new();
	c->pcap = dt_pcap_new();
	return c;
}

static void free_held(struct dt_held *h)
{
	struct dt_held *next;

	for (; h; h = next) {
		next = h->next;
		free(h->values);
		free(h->bytes);
		free(h);
	}
}

void dt_consumer_free(dt_consumer *c)
{
	if (!c)
		return;
	if (c->reopened)
		fclose(c->reopened);
	free(c->reopened_path);
	dt_pcap_free(c->pcap);
	free_held(c->held);
	c->ops->close(c->w);
	if (c->also)
		c->env.also->close(c->also);
	dt_aggs_free(c->aggs);
	dt_losses_free(c->losses);
	dt_faults_free(c->faults);
	free(c->flow.streams);
	free(c);
}

int dt_consumer_exit_status(const dt_consumer *c)
{
	return c->exit_status;
}

/* ---- aggregations ---- */

static int take_agg(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys,
		    const uint64_t *value)
{
	dt_consumer *c = arg;

	(void)cpu;
	dt_aggs_merge(c->aggs, NULL, agg, keys, value);
	return 0;
}

static int take_far_agg(void *arg, dt_account *payer, const dt_agg *agg, const dt_datum *keys, const uint64_t *value)
{
	dt_consumer *c = arg;

	dt_aggs_merge(c->aggs, payer, agg, keys, value);
	return 0;
}

static int take_aggs(dt_consumer *c, const struct dt_look *l)
{
	dt_sink sink = {.arg = c, .agg = take_agg, .far_agg = take_far_agg};

	c->taken = dt_now();
	return l->ops->snapshot ? l->ops->snapshot(l->e, &sink, c->err) : 0;
}

int dt_consumer_read_aggs(dt_consumer *c, const struct dt_engine_ops *ops, dt_engine *e, dt_error *err)
{
	struct dt_look look = {ops, e};

	c->err = err;
	return take_aggs(c, &look);
}

int dt_consumer_catch_up(dt_consumer *c)
{
	const struct dt_look *l = c->untaken;

	c->untaken = NULL;
	return l ? take_aggs(c, l) : 0;
}

/* ---- output ---- */

void dt_consumer_set_output(dt_consumer *c, FILE *out)
{
	c->out = out;
	c->env.stream = c->env.also ? NULL : out;
	c->env.terminal = out && (c->ops->flags & DT_WRITER_PLAIN) && isatty(fileno(out));
}

/* What the writer has goes to the stream, or to the function if it is at least that many bytes. 0 or -1. */
static int write_out(dt_consumer *c, size_t least)
{
	dt_buf *b = c->ops->output(c->w);
	size_t n = b->n;
	bool ok;

	if (n == 0 || (!c->out && (n < least || !c->env.emit)))
		return 0;
	errno = 0;
	if (c->out)
		ok = fwrite(b->s, 1, n, c->out) == n;
	else
		ok = (errno = c->env.emit(c->env.arg, b->s, n)) == 0;
	dt_buf_reset(b);
	return ok ? 0 : dt_err(c->err, errno ? errno : EIO, NULL);
}

/* The same of the second writer. */
static int write_also(dt_consumer *c, size_t least)
{
	dt_buf *b = c->also ? c->env.also->output(c->also) : NULL;
	int error;

	if (!b || b->n == 0 || b->n < least)
		return 0;
	error = c->env.emit_also(c->env.arg, b->s, b->n);
	dt_buf_reset(b);
	return error ? dt_err(c->err, error, NULL) : 0;
}

int dt_consumer_flush(dt_consumer *c)
{
	if (write_out(c, 0) < 0 || write_also(c, 0) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		FILE *f = i ? c->reopened : c->out;

		if (f && fflush(f) != 0) {
			dt_err(c->err, errno, NULL);
			clearerr(f);
			return -1;
		}
	}
	return 0;
}

static int check_writer(dt_consumer *c)
{
	return c->ops->check ? c->ops->check(c->w, c->err) : 0;
}

/* ---- what the user should know ---- */

bool dt_consumer_takes(dt_consumer *c, const dt_diag *d)
{
	if (c->also && c->env.also->diag)
		c->env.also->diag(c->also, d);
	return c->ops->diag && c->ops->diag(c->w, d);
}

int dt_consumer_tell(dt_consumer *c, const dt_diag *d)
{
	if (dt_consumer_takes(c, d))
		return 0;
	return c->env.diag ? c->env.diag(c->env.arg, d) : 0;
}

/* ---- records ---- */

/* What the session has added to the clause (dt_clause.who). */
static void read_who(const dt_record *r, dt_who *who)
{
	const dt_clause *c = r->ecb->clause;
	dt_value v[3];

	if (!c->who || !r->values || c->who - 1 < r->first || c->who + 2 > r->first + r->nactions)
		return;
	for (uint32_t i = 0; i < 3; i++)
		dt_value_of(&c->actions[c->who - 1 + i], &r->values[c->who - 1 + i], &v[i]);
	*who = (dt_who){.pid = (long)v[0].u, .tid = (long)v[1].u};
	if (v[2].kind == DT_V_STRING)
		snprintf(who->execname, sizeof(who->execname), "%.*s", (int)v[2].size,
			 (const char *)v[2].data);
}

/* The first statement of the part; they are in the order of their actions. */
static uint32_t first_statement(const dt_clause *c, uint32_t action)
{
	uint32_t lo = 0, hi = c->nstmts;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->stmts[mid].first < action)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_in(const dt_record *r, uint32_t stmt)
{
	const dt_clause *c = r->ecb->clause;

	return stmt < c->nstmts &&
	       (c->stmts[stmt].first < r->first + r->nactions || r->first + r->nactions == c->nactions);
}

/* Does it hold nothing but the process that it is about? */
static bool shows_nothing(const dt_record *r)
{
	const dt_clause *c = r->ecb->clause;

	if (!c->who || c->nstmts == 0 || r->nactions == c->nactions)
		return false;
	for (uint32_t i = first_statement(c, r->first); is_in(r, i); i++)
		for (uint32_t k = 0; k < c->stmts[i].nactions; k++) {
			const dt_action *a = &c->actions[c->stmts[i].first + k];

			if (c->stmts[i].kind != DT_ST_AGG &&
			    (a->size || dt_act(a->kind)->always_recorded))
				return false;
		}
	return true;
}

/* The firing whose parts the writer has got is complete. */
static int end_record(dt_consumer *c)
{
	if (!c->open)
		return 0;
	c->open = NULL;
	DT_TELL(c, record_end);
	if (write_out(c, EMIT_AT_ONCE) < 0 || write_also(c, EMIT_AT_ONCE) < 0)
		return -1;
	return check_writer(c);
}

static void begin_record(dt_consumer *c, const dt_record *r, const dt_ecb *next)
{
	dt_record_event ev = {
	    .probe = r->ecb->probe,
	    .clause = r->ecb->clause,
	    .epid = r->ecb->epid,
	    .cpu = r->cpu,
	    .timestamp = r->timestamp,
	    .who = c->who,
	};

	if (dt_opt(c->env.opts, DT_O_FLOWINDENT))
		ev.flow = dt_flow_step(&c->flow, dt_opt(c->env.opts, DT_O_TEMPORAL) ? 0 : r->cpu,
				       r->ecb, next);
	c->open = r->ecb;
	c->open_cpu = r->cpu;
	DT_TELL(c, record_begin, &ev);
}

/* A part of a record. Further parts of the firing may follow, so the record is not ended here. */
static int walk_part(dt_consumer *c, const dt_record *r, const dt_ecb *next)
{
	const dt_clause *cl = r->ecb->clause;
	bool more = r->continues && c->open == r->ecb && c->open_cpu == r->cpu;

	if (!more && end_record(c) < 0)
		return -1;
	if (!r->continues)
		memset(&c->who, 0, sizeof(c->who));
	read_who(r, &c->who);
	if (shows_nothing(r))
		return 0;
	if (!more)
		begin_record(c, r, next);
	for (uint32_t i = first_statement(cl, r->first); is_in(r, i); i++) {
		if (dt_do_statement(c, r, &cl->stmts[i]) < 0) {
			if (!(c->ops->flags & DT_WRITER_PLAIN))
				DT_TELL(c, record_end);
			c->open = NULL;
			write_out(c,
				  EMIT_AT_ONCE); /* what came before it in the clause was printed */
			return -1;
		}
	}
	return r->nactions == cl->nactions ? end_record(c) : 0;
}

/* The user reads of it once for each place in the source. */
static int tell_cause(dt_consumer *c, const struct dt_fault_cause *cause)
{
	dt_diag d = {.kind = DT_DIAG_FAULT};
	dt_buf text = {0};
	int rc;

	dt_fault_cause_text(cause, &text);
	d.text = text.s;
	rc = c->env.diag(c->env.arg, &d);
	dt_buf_free(&text);
	return rc;
}

static int tell_fault(dt_consumer *c, const dt_diag *d)
{
	uint64_t max = dt_opt(c->env.opts, DT_O_FAULTMAX);
	enum dt_fault_news news;
	int rc;

	if (dt_consumer_takes(c, d))
		return 0;
	news = dt_faults_add(c->faults, d->fault, d->ecb, d->cause ? d->cause->place : NULL, max);
	if (news == DT_FAULT_COUNTED || !c->env.diag)
		return 0;
	rc = c->env.diag(c->env.arg, d);
	return rc || news != DT_FAULT_NEW_PLACE ? rc : tell_cause(c, d->cause);
}

/* A writer gets every fault; for the user, those that repeat an earlier one are only counted. */
static int report_fault(dt_consumer *c, const dt_record *r)
{
	struct dt_fault_cause cause = {0};
	dt_diag d = {
	    .kind = DT_DIAG_FAULT,
	    .fault = r->fault,
	    .ecb = r->ecb,
	    .on_cpu = true,
	    .cpu = r->cpu,
	    .timestamp = r->timestamp,
	};
	dt_buf text = {0};
	int rc;

	dt_fault_text(r->fault, r->ecb, &text);
	d.text = text.s;
	if (dt_fault_explain(r->fault, r->ecb, &cause))
		d.cause = &cause;
	rc = tell_fault(c, &d);
	dt_buf_free(&text);
	dt_fault_cause_free(&cause);
	return rc ? dt_err(c->err, EDT_ERRABORT, NULL) : 0;
}

static struct dt_held *hold(const dt_record *r)
{
	uint32_t n = r->values ? r->ecb->clause->nactions : 0, end = r->first + r->nactions;
	struct dt_held *h = dt_xcalloc(1, sizeof(*h));
	size_t bytes = 0;
	char *p;

	for (uint32_t i = r->first; n && i < end; i++)
		bytes += dt_align_up(r->values[i].size, 8);
	h->rec = *r;
	h->values = dt_xcalloc(n + 1, sizeof(*h->values));
	h->bytes = p = dt_xcalloc(1, bytes + 1);
	for (uint32_t i = r->first; n && i < end; i++) {
		h->values[i] = r->values[i];
		if (!r->values[i].data)
			continue;
		memcpy(p, r->values[i].data, r->values[i].size);
		h->values[i].data = p;
		p += dt_align_up(r->values[i].size, 8);
	}
	if (r->values)
		h->rec.values = h->values;
	return h;
}

static int release(dt_consumer *c, const dt_record *next)
{
	struct dt_held *h = c->held, *rest;
	bool same_stream;
	int rc = 0;

	if (!h)
		return 0;
	c->held = NULL;
	same_stream =
	    next && !next->fault && (dt_opt(c->env.opts, DT_O_TEMPORAL) || next->cpu == h->rec.cpu);
	for (; h; h = rest) {
		rest = h->next;
		if (rc == 0)
			rc = walk_part(c, &h->rec, same_stream ? next->ecb : NULL);
		h->next = NULL;
		free_held(h);
	}
	return rc;
}

/* Another part of what is held. */
static bool join_held(dt_consumer *c, const dt_record *r)
{
	struct dt_held *h = c->held;

	if (!h || r->fault || !r->continues || h->rec.ecb != r->ecb || h->rec.cpu != r->cpu)
		return false;
	while (h->next)
		h = h->next;
	h->next = hold(r);
	return true;
}

static int take_record(void *arg, const dt_record *r)
{
	dt_consumer *c = arg;

	if (r->ecb && join_held(c, r))
		return 0;
	if (!r->ecb || release(c, r) < 0)
		return -1;
	if (r->fault)
		return end_record(c) < 0 ? -1 : report_fault(c, r);
	if (dt_opt(c->env.opts, DT_O_FLOWINDENT) &&
	    dt_flow_kind_of(r->ecb->probe) == DT_FLOW_RETURN) {
		c->held = hold(r);
		return 0;
	}
	return walk_part(c, r, NULL);
}

/* ---- what is due ---- */

/* After `last`, by the rate in option `id`. */
static uint64_t due_at(const dt_consumer *c, uint64_t last, enum dt_opt_id id)
{
	return last + dt_opt(c->env.opts, id);
}

#define BUDGET_INTERVAL 100000000

uint64_t dt_consumer_next(const dt_consumer *c)
{
	uint64_t a = due_at(c, c->consumed, DT_O_SWITCHRATE), b = due_at(c, c->taken, DT_O_AGGRATE),
		 s = due_at(c, c->checked, DT_O_STATUSRATE);

	if (dt_opt(c->env.opts, DT_O_OVERHEAD) && s > dt_now() + BUDGET_INTERVAL)
		s = dt_now() + BUDGET_INTERVAL; /* the engine measures */
	a = a < b ? a : b;
	return a < s ? a : s;
}

/* Status checks are statusrate apart, counted from the first. */
static bool is_check_due(dt_consumer *c, uint64_t now)
{
	uint64_t rate = dt_opt(c->env.opts, DT_O_STATUSRATE);

	if (now < c->checked + rate)
		return false;
	c->checked = c->checked && rate ? now - (now - c->checked) % rate : now;
	return true;
}

/* exit() and a full buffer end tracing at once, unless the user has set statusrate. */
static bool is_over(const dt_consumer *c, const dt_status *st, bool checking)
{
	return (c->exiting || st->exiting || st->filled) &&
	       (checking || !c->env.opts->is_set[DT_O_STATUSRATE]);
}

static bool takes(void *arg, const dt_diag *d)
{
	return dt_consumer_takes(arg, d);
}

/* Drops have been offered to the writers one by one; what comes here is their sum, for the user. */
static int tell(void *arg, const dt_diag *d)
{
	dt_consumer *c = arg;

	if (d->kind == DT_DIAG_DROP && d->tag)
		return c->env.diag ? c->env.diag(c->env.arg, d) : 0;
	return dt_consumer_tell(c, d);
}

static int report_losses(dt_consumer *c, const dt_status *st)
{
	struct dt_losses_to to = {.opts = c->env.opts, .takes = takes, .tell = tell, .arg = c, .now = dt_now()};

	if (dt_faults_report(c->faults, &to) < 0)
		return dt_err(c->err, EDT_ERRABORT, NULL);
	if (dt_losses_report(c->losses, st, &to) < 0)
		return dt_err(c->err, EDT_DROPABORT, NULL);
	return dt_report_lost_packets(c);
}

static int consume(dt_consumer *c, const struct dt_look *l)
{
	dt_sink sink = {.arg = c, .record = take_record, .agg = take_agg, .far_agg = take_far_agg};
	int rc;

	c->consumed = dt_now();
	rc = l->ops->consume(l->e, &sink);
	if (rc >= 0)
		rc = release(c, NULL);
	if (rc >= 0)
		rc = end_record(c);
	return rc < 0 ? rc : dt_consumer_flush(c);
}

/* At the end of tracing everything is due; before END the records are, so that it finds room in the buffers. What BEGIN has
 * recorded is shown first of all: attend() may have to read many files. */
static int take_what_is_due(dt_consumer *c, struct dt_look *l, bool before_end, const dt_status *st)
{
	uint64_t now = dt_now();
	bool filling, ended = !st->running;
	int rc = 0;

	c->untaken = l;
	if (!c->consumed && !before_end && !ended)
		rc = consume(c, l);
	filling = l->ops->attend && l->ops->attend(l->e);
	if (rc >= 0 && (before_end || ended || filling || now >= due_at(c, c->consumed, DT_O_SWITCHRATE)))
		rc = consume(c, l);
	/* after exit() the end is near, and takes them all */
	if (rc >= 0 && c->untaken && (ended || (!st->exiting && now >= due_at(c, c->taken, DT_O_AGGRATE))))
		rc = take_aggs(c, l);
	c->untaken = NULL;
	return rc;
}

int dt_consumer_work(dt_consumer *c, const struct dt_engine_ops *ops, dt_engine *e, bool before_end,
		     dt_error *err)
{
	struct dt_look look = {ops, e};
	dt_status st = {0};
	bool checking;
	int rc = 0;

	memset(err, 0, sizeof(*err));
	c->err = err;
	ops->status(e, &st);
	checking = !st.running || is_check_due(c, dt_now());
	if (checking)
		rc = report_losses(c, &st);
	if (rc >= 0)
		rc = take_what_is_due(c, &look, before_end, &st);
	if (rc >= 0 && !st.running) { /* the last time: also losses while consuming */
		ops->status(e, &st);
		rc = report_losses(c, &st);
	}
	if (rc >= 0 && c->ops->output(c->w)->n) /* the writer has taken a diagnostic */
		rc = dt_consumer_flush(c);
	if (rc >= 0)
		rc = write_also(c, 0);
	if (rc >= 0)
		rc = check_writer(c);
	if (rc < 0) {
		if (err->code == 0)
			dt_err(err, EIO, "the engine's data cannot be read");
		return -1;
	}
	if (st.exiting && !c->exiting)
		c->exit_status = st.exit_status;
	return is_over(c, &st, checking);
}

int dt_consumer_give_aggs(dt_consumer *c, const dt_aggtable *t)
{
	int rc = c->ops->aggs ? c->ops->aggs(c->w, t, c->err) : 0;

	if (rc == 0 && c->also && c->env.also->aggs)
		rc = c->env.also->aggs(c->also, t, c->err);
	return rc;
}

int dt_consumer_print_aggs(dt_consumer *c, dt_error *err)
{
	uint32_t n = dt_aggs_count(c->aggs);
	bool reverse = dt_opt(c->env.opts, DT_O_AGGSORTREV);
	int rc = 0;

	c->err = err;
	DT_TELL(c, exit_begin);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		dt_aggset *s = dt_aggs_nth(c->aggs, reverse ? n - 1 - i : i);
		dt_aggtable t;

		if (s->printed && !(c->ops->flags & DT_WRITER_ALL_AGGS))
			continue;
		dt_aggtable_make(&t, &s, 1, c->env.opts);
		t.at_exit = true;
		if (t.nlines)
			rc = dt_consumer_give_aggs(c, &t);
		dt_aggtable_free(&t);
	}
	if (rc == 0 && c->ops->end && !c->ended)
		rc = c->ops->end(c->w, err);
	if (rc == 0 && c->also && c->env.also->end && !c->ended)
		rc = c->env.also->end(c->also, err);
	c->ended = true;
	if (rc == 0)
		rc = check_writer(c);
	return dt_consumer_flush(c) < 0 ? -1 : rc;
}

int dt_consumer_show_aggs(dt_consumer *c, dt_error *err)
{
	int rc = 0;

	c->err = err;
	for (uint32_t i = 0; i < dt_aggs_count(c->aggs) && rc == 0; i++) {
		dt_aggset *s = dt_aggs_nth(c->aggs, i);
		dt_aggtable t;

		dt_aggtable_make(&t, &s, 1, c->env.opts);
		rc = dt_consumer_give_aggs(c, &t);
		dt_aggtable_free(&t);
	}
	if (rc == 0)
		rc = check_writer(c);
	return dt_consumer_flush(c) < 0 ? -1 : rc;
}

int dt_consumer_walk_aggs(dt_consumer *c, int (*f)(void *arg, const dt_aggtable *t), void *arg)
{
	int rc = 0;

	for (uint32_t i = 0; i < dt_aggs_count(c->aggs) && rc == 0; i++) {
		dt_aggset *s = dt_aggs_nth(c->aggs, i);
		dt_aggtable t;

		dt_aggtable_make(&t, &s, 1, c->env.opts);
		rc = f(arg, &t);
		dt_aggtable_free(&t);
	}
	return rc;
}

struct document {
	const struct dt_writer_ops *ops;
	dt_writer *w;
	dt_error *err;
};

static int add_table(void *arg, const dt_aggtable *t)
{
	const struct document *d = arg;
	dt_aggtable last = *t;

	last.at_exit = true;
	return t->nlines && d->ops->aggs ? d->ops->aggs(d->w, &last, d->err) : 0;
}

int dt_consumer_write_aggs(dt_consumer *c, const struct dt_writer_ops *ops, dt_buf *out,
			   dt_error *err)
{
	struct dt_consumer_env env = c->env;
	struct document d = {.ops = ops, .err = err};
	dt_buf *b;
	int rc;

	env.stream = NULL;
	env.diag = NULL; /* the trace has lost nothing if a document lacks something */
	d.w = ops->open(&env);
	rc = dt_consumer_walk_aggs(c, add_table, &d);
	if (rc == 0 && ops->end)
		rc = ops->end(d.w, err);
	b = ops->output(d.w);
	if (rc == 0 && b->n)
		dt_buf_add(out, b->s, b->n);
	ops->close(d.w);
	return rc;
}

const struct dt_consumer_env *dt_consumer_environment(const dt_consumer *c)
{
	return &c->env;
}
