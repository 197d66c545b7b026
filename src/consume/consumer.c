/*
 * consumer: from an engine's records to events for a writer.
 *
 * One call of dt_consumer_work() does what is due: report losses, walk the records, take the
 * aggregations. A record is walked by the statements of its clause. Statements that print become
 * events; those that act on the consumer itself (clear, trunc, normalize, setopt, freopen ...) are
 * done when the record is consumed. The aggregations are taken before the first statement of a round
 * that is about them, so that it finds every update made by its own and by earlier firings.
 *
 * The writer fills a buffer; after every record the buffer goes to the output stream, which is the
 * caller's, or a file opened by freopen(). An output error ends the work with its errno.
 *
 * For -F a return must know what follows it (flow.c), so it is held back until the next record or
 * the end of the batch.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "consume/writer.h"

struct held { /* a deep copy of a record */
	dt_record rec;
	dt_datum *values;
	char *bytes;
};

struct look; /* the engine, in the current call */

struct dt_consumer {
	struct dt_consumer_env env;
	const struct dt_writer_ops *ops;
	dt_writer *w;
	FILE *out;	/* env.out, or reopened */
	FILE *reopened; /* by freopen(); NULL: none */
	dt_aggs *aggs;
	dt_losses *losses;
	dt_flow_state flow;
	struct held *held;
	dt_error *err; /* of the current call */
	struct look
	    *untaken; /* the engine, as long as aggregations have not been taken in this call */
	uint64_t consumed, taken, checked; /* when records, aggregations and the status last were */
	bool exiting;
	int exit_status;
};

dt_consumer *dt_consumer_new(const struct dt_consumer_env *env)
{
	dt_consumer *c = dt_xcalloc(1, sizeof(*c));

	c->env = *env;
	c->out = env->out;
	c->env.terminal = isatty(fileno(c->out));
	c->ops = &dt_writer_text;
	c->w = c->ops->open(&c->env);
	c->aggs = dt_aggs_new(&c->env);
	c->losses = dt_losses_new();
	return c;
}

static void free_held(struct held *h)
{
	if (!h)
		return;
	free(h->values);
	free(h->bytes);
	free(h);
}

void dt_consumer_free(dt_consumer *c)
{
	if (!c)
		return;
	if (c->reopened)
		fclose(c->reopened);
	free_held(c->held);
	c->ops->close(c->w);
	dt_aggs_free(c->aggs);
	dt_losses_free(c->losses);
	free(c->flow.streams);
	free(c);
}

int dt_consumer_exit_status(const dt_consumer *c)
{
	return c->exit_status;
}

/* ---- aggregations ---- */

struct look {
	const struct dt_engine_ops *ops;
	dt_engine *e;
};

static int take_agg(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys,
		    const uint64_t *value)
{
	dt_consumer *c = arg;

	(void)cpu;
	dt_aggs_merge(c->aggs, agg, keys, value);
	return 0;
}

static int take_aggs(dt_consumer *c, const struct look *l)
{
	dt_sink sink = {.arg = c, .agg = take_agg};

	c->taken = dt_now();
	return l->ops->snapshot ? l->ops->snapshot(l->e, &sink, c->err) : 0;
}

/* Before a statement that looks at them. */
static int catch_up(dt_consumer *c)
{
	const struct look *l = c->untaken;

	c->untaken = NULL;
	return l ? take_aggs(c, l) : 0;
}

/* ---- output ---- */

/* What the writer has so far goes to the stream. 0 or -1. */
static int flush_writer(dt_consumer *c)
{
	dt_buf *b = c->ops->output(c->w);
	size_t n = b->n;
	bool ok = n == 0 || fwrite(b->s, 1, n, c->out) == n;

	dt_buf_reset(b);
	return ok ? 0 : dt_err(c->err, errno ? errno : EIO, NULL);
}

static int flush_stream(dt_consumer *c)
{
	if (flush_writer(c) < 0)
		return -1;
	if (fflush(c->out) == 0)
		return 0;
	dt_err(c->err, errno, NULL);
	clearerr(c->out);
	return -1;
}

static int diag(dt_consumer *c, enum dt_diag_kind kind, const char *text)
{
	return c->env.diag ? c->env.diag(c->env.arg, kind, text) : 0;
}

/* ---- statements ---- */

struct walk { /* one statement of one record */
	dt_consumer *c;
	const dt_record *rec;
	const dt_stmt *stmt;
	const dt_action *actions; /* of the statement */
	const dt_datum *data;
	uint32_t n;
};

static dt_value nth_value(const struct walk *k, uint32_t i)
{
	dt_value v = {0};

	if (i < k->n)
		dt_value_of(&k->actions[i], &k->data[i], &v);
	v.time = k->rec->timestamp;
	return v;
}

/* The integer that the statement recorded, if any. */
static bool last_int(const struct walk *k, int64_t *n)
{
	for (uint32_t i = k->n; i-- > 0;) {
		dt_value v = nth_value(k, i);

		if (v.kind == DT_V_INT) {
			*n = (int64_t)v.u;
			return true;
		}
	}
	return false;
}

static char *nth_string(const struct walk *k, uint32_t i)
{
	dt_value v = nth_value(k, i);
	dt_buf b = {0};

	if (v.kind != DT_V_STRING && v.kind != DT_V_BYTES)
		return dt_xstrdup("");
	dt_buf_add(&b, v.data, strnlen(v.data, v.size));
	return b.s ? b.s : dt_xstrdup("");
}

static int do_trace(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	k->c->ops->trace(k->c->w, &v);
	return 0;
}

static int do_print(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	k->c->ops->print(k->c->w, &v, k->stmt->type ? k->stmt->type : v.type);
	return 0;
}

/* A size that was computed caps what is shown, if it makes sense at all. */
static int do_memory(struct walk *k)
{
	dt_value v = nth_value(k, 0), size = nth_value(k, 1);

	if (v.kind == DT_V_NONE)
		return 0;
	if (size.kind == DT_V_INT && size.u > 0 && size.u < v.size)
		v.size = (uint32_t)size.u;
	k->c->ops->memory(k->c->w, &v);
	return 0;
}

/* printm(): a length, then that many bytes. */
static int do_printm(struct walk *k)
{
	dt_value v = nth_value(k, 0);
	uint64_t n;

	if (v.kind == DT_V_NONE || v.size < 8)
		return 0;
	n = dt_load_int(v.data, 8, false);
	v.data = (const char *)v.data + 8;
	v.size -= 8;
	if (n < v.size)
		v.size = (uint32_t)n;
	k->c->ops->memory(k->c->w, &v);
	return 0;
}

static int do_stack(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	if (v.kind == DT_V_STACK)
		k->c->ops->stack(k->c->w, &v);
	return 0;
}

static int do_symbol(struct walk *k)
{
	dt_value v = nth_value(k, 0);

	if (v.kind == DT_V_SYMBOL)
		k->c->ops->symbol(k->c->w, &v);
	return 0;
}

/* The text of a printf-like statement; the values too when asked for (free both). */
static int format_text(struct walk *k, dt_buf *text, dt_value **values)
{
	dt_value *v = dt_xcalloc(k->n + 1, sizeof(*v));
	struct dt_format_env fe = {
	    .env = &k->c->env, .args = v, .nargs = k->n, .command = values == NULL};
	int rc = 0;

	for (uint32_t i = 0; i < k->n; i++)
		v[i] = nth_value(k, i);
	if (k->stmt->format)
		rc = dt_text_format(text, k->stmt->format, &fe, k->c->err);
	if (values)
		*values = v;
	else
		free(v);
	return rc;
}

static int do_printf(struct walk *k)
{
	dt_buf text = {0};
	dt_value *values;
	int rc = format_text(k, &text, &values);

	if (rc == 0 && text.n)
		k->c->ops->printf(k->c->w, text.s, text.n, k->stmt->format, values, k->n);
	dt_buf_free(&text);
	free(values);
	return rc;
}

static int do_system(struct walk *k)
{
	dt_buf text = {0};
	int rc = format_text(k, &text, NULL);

	if (rc == 0)
		rc = flush_stream(k->c);
	/* ECHILD: it has run, but our parent made us ignore SIGCHLD, so we cannot wait for it */
	if (rc == 0 && text.n && system(text.s) == -1 && errno != ECHILD)
		rc = dt_err(k->c->err, errno, "system(): %s", dt_strerror(errno));
	dt_buf_free(&text);
	return rc;
}

static int do_freopen(struct walk *k)
{
	dt_consumer *c = k->c;
	dt_buf text = {0};
	FILE *f = NULL;
	char *why;
	int rc = format_text(k, &text, NULL);

	if (rc == 0)
		rc = flush_stream(c);
	if (rc < 0)
		goto out;
	if (text.n && text.s[0] && !(f = fopen(text.s, "ae"))) {
		why = dt_xasprintf("freopen(\"%s\"): %s", text.s, dt_strerror(errno));
		rc = diag(c, DT_DIAG_FAULT, why) ? dt_err(c->err, EDT_ERRABORT, NULL) : 0;
		free(why);
		goto out;
	}
	if (c->reopened && fclose(c->reopened) != 0)
		rc = dt_err(c->err, errno, NULL);
	c->reopened = f;
	c->out = f ? f : c->env.out;
	c->env.terminal = isatty(fileno(c->out));
out:
	dt_buf_free(&text);
	return rc;
}

static int do_ftruncate(struct walk *k)
{
	dt_consumer *c = k->c;

	if (flush_stream(c) < 0)
		return -1;
	if ((c->reopened || c->env.out_path) && ftruncate(fileno(c->out), 0) == 0)
		rewind(c->out);
	return 0;
}

/* A program that asks for something that is not available is told so, and goes on. */
static int do_setopt(struct walk *k)
{
	char *name = nth_string(k, 0), *value = nth_string(k, 1), *why;
	dt_error err = {0};
	int rc =
	    dt_options_set(k->c->env.opts, name, value[0] ? value : NULL, DT_WHEN_TRACING, &err);

	if (rc < 0) {
		why = dt_xasprintf("setopt(\"%s%s%s\"): %s", name, value[0] ? "\", \"" : "", value,
				   err.text[0] ? err.text : dt_strerror(err.code));
		rc = diag(k->c, DT_DIAG_FAULT, why) ? dt_err(k->c->err, EDT_ERRABORT, NULL) : 0;
		free(why);
	}
	free(name);
	free(value);
	return rc;
}

static int do_printa(struct walk *k)
{
	dt_aggset **sets = dt_xcalloc(k->stmt->naggs + 1, sizeof(*sets));
	dt_aggtable t;
	int rc = catch_up(k->c);

	for (uint32_t i = 0; i < k->stmt->naggs; i++) {
		sets[i] = dt_aggs_get(k->c->aggs, k->stmt->aggs[i]);
		sets[i]->printed = true;
	}
	if (k->stmt->naggs && rc == 0) {
		dt_aggtable_make(&t, sets, k->stmt->naggs, k->c->env.opts);
		t.format = k->stmt->format;
		rc = k->c->ops->aggs(k->c->w, &t, k->c->err);
		dt_aggtable_free(&t);
	}
	free(sets);
	return rc;
}

/* clear, trunc, normalize, denormalize. */
static int do_agg(struct walk *k)
{
	int64_t n = 0;
	bool given = last_int(k, &n);

	if (catch_up(k->c) < 0)
		return -1;
	if (k->stmt->kind == DT_ST_NORMALIZE && (!given || n == 0))
		return dt_err(k->c->err, EDT_BADNORMAL, NULL);
	for (uint32_t i = 0; i < k->stmt->naggs; i++) {
		dt_aggset *s = dt_aggs_get(k->c->aggs, k->stmt->aggs[i]);

		switch (k->stmt->kind) {
		case DT_ST_CLEAR: dt_aggset_clear(s); break;
		case DT_ST_TRUNC: dt_aggset_trunc(s, n); break;
		case DT_ST_NORMALIZE: s->normal = (uint64_t)n; break;
		default: s->normal = 1; break;
		}
	}
	return 0;
}

static int do_exit(struct walk *k)
{
	int64_t status = 0;

	last_int(k, &status);
	k->c->exit_status = (int)status;
	k->c->exiting = true;
	return 0;
}

static int do_stmt(struct walk *k)
{
	switch (k->stmt->kind) {
	case DT_ST_TRACE: return do_trace(k);
	case DT_ST_PRINT: return do_print(k);
	case DT_ST_TRACEMEM: return do_memory(k);
	case DT_ST_PRINTM: return do_printm(k);
	case DT_ST_STACK: return do_stack(k);
	case DT_ST_SYM: return do_symbol(k);
	case DT_ST_PRINTF: return do_printf(k);
	case DT_ST_SYSTEM: return do_system(k);
	case DT_ST_FREOPEN: return do_freopen(k);
	case DT_ST_PRINTA: return do_printa(k);
	case DT_ST_CLEAR:
	case DT_ST_TRUNC:
	case DT_ST_NORMALIZE:
	case DT_ST_DENORMALIZE: return do_agg(k);
	case DT_ST_SETOPT: return do_setopt(k);
	case DT_ST_FTRUNCATE: return do_ftruncate(k);
	case DT_ST_EXIT: return do_exit(k);
	case DT_ST_EXPR:
	case DT_ST_AGG:
	case DT_ST_SPECULATE:
	case DT_ST_COMMIT:
	case DT_ST_DISCARD:
	case DT_ST_KERNEL:
	case DT_ST_MAX: break; /* done when it was recorded */
	}
	return 0;
}

/* ---- records ---- */

static int walk_record(dt_consumer *c, const dt_record *r, const dt_ecb *next)
{
	const dt_clause *cl = r->ecb->clause;
	dt_record_event ev = {
	    .probe = r->ecb->probe, .epid = r->ecb->epid, .cpu = r->cpu, .timestamp = r->timestamp};

	if (dt_opt(c->env.opts, DT_O_FLOWINDENT))
		ev.flow = dt_flow_step(&c->flow, dt_opt(c->env.opts, DT_O_TEMPORAL) ? 0 : r->cpu,
				       r->ecb, next);
	c->ops->record_begin(c->w, &ev);
	for (uint32_t i = 0; i < cl->nstmts; i++) {
		const dt_stmt *s = &cl->stmts[i];
		struct walk k = {.c = c, .rec = r, .stmt = s};

		if (s->first > cl->nactions || s->nactions > cl->nactions - s->first)
			continue;
		k.actions = cl->actions + s->first;
		k.data = r->values ? r->values + s->first : NULL;
		k.n = r->values ? s->nactions : 0;
		if (do_stmt(&k) < 0) {
			flush_writer(c); /* what came before it in the clause was printed */
			return -1;
		}
	}
	c->ops->record_end(c->w);
	return flush_writer(c);
}

static int report_fault(dt_consumer *c, const dt_record *r)
{
	dt_buf text = {0};
	int rc;

	c->ops->fault(c->w, r->fault, r->ecb);
	dt_fault_text(r->fault, r->ecb, &text);
	rc = diag(c, DT_DIAG_FAULT, text.s);
	dt_buf_free(&text);
	return rc ? dt_err(c->err, EDT_ERRABORT, NULL) : 0;
}

static struct held *hold(const dt_record *r)
{
	uint32_t n = r->values ? r->ecb->clause->nactions : 0;
	struct held *h = dt_xcalloc(1, sizeof(*h));
	size_t bytes = 0;
	char *p;

	for (uint32_t i = 0; i < n; i++)
		bytes += dt_align_up(r->values[i].size, 8);
	h->rec = *r;
	h->values = dt_xcalloc(n + 1, sizeof(*h->values));
	h->bytes = p = dt_xcalloc(1, bytes + 1);
	for (uint32_t i = 0; i < n; i++) {
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
	struct held *h = c->held;
	bool same_stream;
	int rc;

	if (!h)
		return 0;
	c->held = NULL;
	same_stream =
	    next && !next->fault && (dt_opt(c->env.opts, DT_O_TEMPORAL) || next->cpu == h->rec.cpu);
	rc = walk_record(c, &h->rec, same_stream ? next->ecb : NULL);
	free_held(h);
	return rc;
}

static int take_record(void *arg, const dt_record *r)
{
	dt_consumer *c = arg;

	if (!r->ecb || release(c, r) < 0)
		return -1;
	if (r->fault)
		return report_fault(c, r);
	if (dt_opt(c->env.opts, DT_O_FLOWINDENT) &&
	    dt_flow_kind_of(r->ecb->probe) == DT_FLOW_RETURN) {
		c->held = hold(r);
		return 0;
	}
	return walk_record(c, r, NULL);
}

/* ---- what is due ---- */

/* After `last`, by the rate in option `id`. */
static uint64_t due_at(const dt_consumer *c, uint64_t last, enum dt_opt_id id)
{
	return last + dt_opt(c->env.opts, id);
}

uint64_t dt_consumer_next(const dt_consumer *c)
{
	uint64_t a = due_at(c, c->consumed, DT_O_SWITCHRATE), b = due_at(c, c->taken, DT_O_AGGRATE),
		 s = due_at(c, c->checked, DT_O_STATUSRATE);

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

/* exit() and a full buffer end tracing at once, unless the user says when the status is checked. */
static bool is_over(const dt_consumer *c, const dt_status *st, bool checking)
{
	return (c->exiting || st->exiting || st->filled) &&
	       (checking || !c->env.opts->is_set[DT_O_STATUSRATE]);
}

static int report_losses(dt_consumer *c, const dt_status *st)
{
	if (dt_losses_report(c->losses, st, &c->env) < 0)
		return dt_err(c->err, EDT_DROPABORT, NULL);
	return 0;
}

static int consume(dt_consumer *c, const struct look *l)
{
	dt_sink sink = {.arg = c, .record = take_record, .agg = take_agg};
	int rc;

	c->consumed = dt_now();
	rc = l->ops->consume(l->e, &sink);
	if (rc >= 0)
		rc = release(c, NULL);
	return rc < 0 ? rc : flush_stream(c);
}

/* At the end of tracing everything is due; before END the records are, so that it finds room in the buffers. */
static int take_what_is_due(dt_consumer *c, struct look *l, bool before_end, bool ended)
{
	uint64_t now = dt_now();
	bool filling = l->ops->attend && l->ops->attend(l->e);
	int rc = 0;

	c->untaken = l;
	if (before_end || ended || filling || now >= due_at(c, c->consumed, DT_O_SWITCHRATE))
		rc = consume(c, l);
	if (rc >= 0 && c->untaken && (ended || now >= due_at(c, c->taken, DT_O_AGGRATE)))
		rc = take_aggs(c, l);
	c->untaken = NULL;
	return rc;
}

int dt_consumer_work(dt_consumer *c, const struct dt_engine_ops *ops, dt_engine *e, bool before_end,
		     dt_error *err)
{
	struct look look = {ops, e};
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
		rc = take_what_is_due(c, &look, before_end, !st.running);
	if (rc >= 0 && !st.running) { /* for the last time: also what was lost in consuming */
		ops->status(e, &st);
		rc = report_losses(c, &st);
	}
	if (rc < 0) {
		if (err->code == 0)
			dt_err(err, EIO, "the engine's data cannot be read");
		return -1;
	}
	if (st.exiting && !c->exiting)
		c->exit_status = st.exit_status;
	return is_over(c, &st, checking);
}

int dt_consumer_print_aggs(dt_consumer *c, dt_error *err)
{
	uint32_t n = dt_aggs_count(c->aggs);
	bool reverse = dt_opt(c->env.opts, DT_O_AGGSORTREV);

	c->err = err;
	c->ops->exit_begin(c->w);
	for (uint32_t i = 0; i < n; i++) {
		dt_aggset *s = dt_aggs_nth(c->aggs, reverse ? n - 1 - i : i);
		dt_aggtable t;

		if (s->printed)
			continue;
		dt_aggtable_make(&t, &s, 1, c->env.opts);
		t.at_exit = true;
		if (t.nlines)
			c->ops->aggs(c->w, &t, err);
		dt_aggtable_free(&t);
	}
	return flush_stream(c);
}
