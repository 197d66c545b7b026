/*
 * ndjson: one complete JSON object per line, written when it happens.
 *
 * doc/ndjson.md defines the format, doc/ndjson.schema.json the same for a validator. The first line
 * has its version. A firing of a clause is a line if it has output: an action that prints, or no
 * action at all.
 *
 * The common part of the lines of one clause (its probe) is made once and kept. With option brief
 * it is also written only once, in a line "clause" with the names of what the clause shows; a
 * firing has the values then. If a clause later shows something else, its line is written again.
 */
#include <stdlib.h>

#include "format/json_text.h"
#include "format/formats.h"

#define VERSION 1

struct clause {
	dt_buf probe;	/* the part of a line that tells the probe */
	dt_buf actions; /* brief: what was said of the clause */
	bool told;
};

struct dt_writer {
	const struct dt_consumer_env *env;
	dt_buf out;
	dt_buf rec;	/* the line of the current record; other lines come before it */
	size_t shown;	/* where its first output begins */
	bool by_itself; /* the clause has no actions: the firing is what counts */
	DT_VEC(struct clause) clauses; /* by epid */
	bool brief;
	dt_buf actions; /* brief: what the current record shows, as the line "clause" tells it */
	uint32_t epid;	/* brief: of the current record */
	uint64_t records, drops, snapshots;
};

static dt_writer *ndjson_open(const struct dt_consumer_env *env)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));

	w->env = env;
	w->brief = dt_opt(env->opts, DT_O_BRIEF);
	dt_buf_puts(&w->out, "{\"type\":\"start\",\"format\":\"dtrace-ndjson\",\"version\":");
	dt_json_uint(&w->out, VERSION);
	dt_json_key(&w->out, "time");
	dt_json_uint(&w->out, dt_now_kernel());
	dt_json_key(&w->out, "wall");
	dt_json_uint(&w->out, dt_now_wall());
	dt_buf_puts(&w->out, "}\n");
	return w;
}

static void ndjson_close(dt_writer *w)
{
	for (uint32_t i = 0; i < w->clauses.n; i++) {
		dt_buf_free(&w->clauses.v[i].probe);
		dt_buf_free(&w->clauses.v[i].actions);
	}
	dt_vec_free(&w->clauses);
	dt_buf_free(&w->actions);
	dt_buf_free(&w->out);
	dt_buf_free(&w->rec);
	free(w);
}

/* ---- records ---- */

static struct clause *find_clause(dt_writer *w, const dt_probe *p, uint32_t epid)
{
	dt_buf *b;

	while (w->clauses.n <= epid)
		dt_vec_add(&w->clauses, NULL);
	b = &w->clauses.v[epid].probe;
	if (b->n == 0) {
		dt_buf_puts(b, ",\"clause\":");
		dt_json_uint(b, epid);
		dt_buf_puts(b, ",\"probe\":{\"id\":");
		dt_json_uint(b, p->id);
		dt_json_probe(b, p);
		dt_buf_putc(b, '}');
	}
	return &w->clauses.v[epid];
}

static void ndjson_record_begin(dt_writer *w, const dt_record_event *r)
{
	const struct clause *c = find_clause(w, r->probe, r->epid);

	dt_buf_reset(&w->rec);
	dt_buf_reset(&w->actions);
	w->by_itself = r->clause->nstmts == 0;
	w->epid = r->epid;
	dt_buf_puts(&w->rec,
		    w->brief ? "{\"type\":\"fired\",\"time\":" : "{\"type\":\"record\",\"time\":");
	dt_json_uint(&w->rec, r->timestamp);
	dt_buf_puts(&w->rec, ",\"cpu\":");
	dt_json_uint(&w->rec, r->cpu);
	if (w->brief) {
		dt_buf_puts(&w->rec, ",\"clause\":");
		dt_json_uint(&w->rec, r->epid);
		dt_buf_puts(&w->rec, ",\"values\":[");
	} else {
		dt_buf_add(&w->rec, c->probe.s, c->probe.n);
		dt_buf_puts(&w->rec, ",\"output\":[");
	}
	w->shown = w->rec.n;
}

/* Brief: what the clause is and shows, unless that was said before. */
static void tell_clause(dt_writer *w)
{
	struct clause *c = &w->clauses.v[w->epid];

	if (c->told && c->actions.n == w->actions.n &&
	    (w->actions.n == 0 || memcmp(c->actions.s, w->actions.s, w->actions.n) == 0))
		return;
	c->told = true;
	dt_buf_reset(&c->actions);
	dt_buf_add(&c->actions, w->actions.s, w->actions.n);
	dt_buf_puts(&w->out, "{\"type\":\"clause\"");
	dt_buf_add(&w->out, c->probe.s, c->probe.n);
	dt_buf_puts(&w->out, ",\"actions\":[");
	dt_buf_add(&w->out, c->actions.s, c->actions.n);
	dt_buf_puts(&w->out, "]}\n");
}

static void ndjson_record_end(dt_writer *w)
{
	if (w->rec.n == w->shown && !w->by_itself)
		return;
	if (w->brief)
		tell_clause(w);
	dt_buf_puts(&w->rec, "]}\n");
	dt_buf_add(&w->out, w->rec.s, w->rec.n);
	w->records++;
}

/* {"action":"trace","name":"pid": where it goes depends. */
static dt_buf *begin_action(dt_writer *w, const char *action, const char *name)
{
	dt_buf *out = w->brief ? &w->actions : &w->rec;

	if (w->rec.n != w->shown)
		dt_buf_putc(&w->rec, ',');
	if (w->brief && out->n)
		dt_buf_putc(out, ',');
	dt_buf_puts(out, "{\"action\":\"");
	dt_buf_puts(out, action);
	dt_buf_putc(out, '"');
	if (name) {
		dt_json_key(out, "name");
		dt_json_name(out, name, strlen(name));
	}
	return out;
}

/* Everything about the action except its values. */
static void begin_values(dt_writer *w, const char *key)
{
	if (w->brief)
		dt_buf_putc(&w->actions, '}');
	else
		dt_json_key(&w->rec, key);
}

static void end_action(dt_writer *w)
{
	if (!w->brief)
		dt_buf_putc(&w->rec, '}');
}

static void put_output(dt_writer *w, const char *action, const dt_value *v)
{
	begin_action(w, action, v->name);
	begin_values(w, "value");
	dt_json_value(&w->rec, w->env, v);
	end_action(w);
}

static void ndjson_trace(dt_writer *w, const dt_value *v)
{
	put_output(w, "trace", v);
}

static void ndjson_print(dt_writer *w, const dt_value *v, dt_type *type)
{
	dt_buf *out = begin_action(w, "print", v->name);
	dt_value as;

	if (type) {
		dt_buf b = {0};

		dt_type_print(w->env->types, type, NULL, &b);
		dt_json_key(out, "type");
		dt_json_name(out, b.s ? b.s : "", b.n);
		dt_buf_free(&b);
	}
	begin_values(w, "value");
	dt_value_as(w->env->types, v, type, &as);
	dt_json_value(&w->rec, w->env, &as);
	end_action(w);
}

static void ndjson_memory(dt_writer *w, const dt_value *v)
{
	begin_action(w, dt_act_name(v->act), NULL);
	begin_values(w, "value");
	dt_json_hex(&w->rec, v->data, v->size);
	end_action(w);
}

static void ndjson_other(dt_writer *w, const dt_value *v)
{
	put_output(w, dt_act_name(v->act), v);
}

/* Brief: an array of the text and the arguments. */
static void ndjson_printf(dt_writer *w, const char *text, size_t len, const struct dt_format *f,
			  const dt_value *args, uint32_t nargs)
{
	(void)f;
	if (nargs == 1 && args[0].kind == DT_V_NONE)
		nargs = 0;
	begin_action(w, "printf", NULL);
	begin_values(w, "text");
	if (w->brief)
		dt_buf_putc(&w->rec, '[');
	dt_json_string(&w->rec, text, len);
	if (!w->brief)
		dt_buf_puts(&w->rec, ",\"values\":[");
	for (uint32_t i = 0; i < nargs; i++) {
		if (i > 0 || w->brief)
			dt_buf_putc(&w->rec, ',');
		dt_json_value(&w->rec, w->env, &args[i]);
	}
	dt_buf_putc(&w->rec, ']');
	end_action(w);
}

/* ---- aggregations ---- */

static void put_keys(const dt_writer *w, dt_buf *out, const dt_aggline *l)
{
	dt_buf_puts(out, ",\"keys\":[");
	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;

		if (i > 0)
			dt_buf_putc(out, ',');
		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		dt_json_value(out, w->env, &v);
	}
	dt_buf_putc(out, ']');
}

/* What printa() with a format makes of all aggregations with these keys: told with the first of them. */
static void put_row_text(dt_writer *w, const dt_aggtable *t, const dt_aggline *l)
{
	dt_buf text = {0};
	dt_error err;

	if (dt_text_aggline(&text, t, l, w->env, &err) == 0) {
		dt_json_key(&w->out, "text");
		dt_json_string(&w->out, text.n ? text.s : "", text.n);
	}
	dt_buf_free(&text);
}

static void put_row(dt_writer *w, const dt_aggtable *t, const dt_aggline *l, uint32_t which)
{
	const dt_aggset *s = t->sets[which];
	dt_buf *out = &w->out;
	struct dt_buckets b;

	dt_buf_puts(out, "{\"type\":\"aggregation\",\"snapshot\":");
	dt_json_uint(out, w->snapshots);
	dt_buf_puts(out, t->at_exit ? ",\"at\":\"exit\"" : ",\"at\":\"printa\"");
	dt_json_key(out, "name");
	dt_json_name(out, s->agg->name, strlen(s->agg->name));
	dt_json_key(out, "function");
	dt_json_name(out, dt_act_name(s->agg->func), strlen(dt_act_name(s->agg->func)));
	put_keys(w, out, l);
	if (s->normal > 1) {
		dt_json_key(out, "normal");
		dt_json_uint(out, s->normal);
	}
	if (dt_agg_is_quantizer(s->agg)) {
		dt_json_key(out, "buckets");
		if (dt_buckets_of(s->agg, l->values[which], &b))
			dt_json_buckets(out, &b, s->normal);
		else
			dt_buf_puts(out, "[]");
	} else {
		dt_json_key(out, "value");
		dt_json_int(out, dt_agg_number(s->agg, l->values[which], s->normal));
	}
	if (t->format && which == 0)
		put_row_text(w, t, l);
	dt_buf_puts(out, "}\n");
}

static int ndjson_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	(void)err;
	w->snapshots++;
	for (uint32_t i = 0; i < t->nlines; i++)
		for (uint32_t j = 0; j < t->nsets; j++)
			if (t->lines[i].values[j])
				put_row(w, t, &t->lines[i], j);
	return 0;
}

/* ---- diagnostics ---- */

static void put_drop(dt_writer *w, const dt_diag *d)
{
	dt_buf_puts(&w->out, "{\"type\":\"drop\"");
	if (d->tag) {
		w->drops += d->count;
		dt_json_key(&w->out, "kind");
		dt_json_name(&w->out, d->tag, strlen(d->tag));
		dt_json_key(&w->out, "count");
		dt_json_uint(&w->out, d->count);
		dt_json_key(&w->out, "total");
		dt_json_uint(&w->out, d->total);
	}
	if (d->on_cpu) {
		dt_json_key(&w->out, "cpu");
		dt_json_uint(&w->out, d->cpu);
	}
}

static void put_pos(dt_buf *out, const dt_pos *pos)
{
	if (pos->file) {
		dt_json_key(out, "file");
		dt_json_name(out, pos->file, strlen(pos->file));
	}
	if (pos->line) {
		dt_json_key(out, "line");
		dt_json_uint(out, pos->line);
		dt_json_key(out, "column");
		dt_json_uint(out, pos->column);
	}
}

static void put_cause(dt_buf *out, const struct dt_fault_cause *c)
{
	put_pos(out, &c->place->pos);
	dt_json_key(out, "expression");
	dt_json_string(out, c->expression.s, c->expression.n);
	dt_json_key(out, "reason");
	dt_json_name(out, c->reason.s, c->reason.n);
}

static void put_fault(dt_writer *w, const dt_diag *d)
{
	const char *what = dt_fault_name(d->fault->code);
	const struct clause *c;

	dt_buf_puts(&w->out, "{\"type\":\"fault\",\"time\":");
	dt_json_uint(&w->out, d->timestamp);
	dt_json_key(&w->out, "cpu");
	dt_json_uint(&w->out, d->cpu);
	c = find_clause(w, d->ecb->probe, d->ecb->epid);
	dt_buf_add(&w->out, c->probe.s, c->probe.n);
	dt_json_key(&w->out, "fault");
	dt_json_name(&w->out, what, strlen(what));
	dt_json_key(&w->out, "code");
	dt_json_uint(&w->out, d->fault->code);
	dt_json_key(&w->out, "action");
	dt_json_uint(&w->out, d->fault->action);
	dt_json_key(&w->out, "offset");
	dt_json_int(&w->out, d->fault->offset);
	dt_json_key(&w->out, "value");
	dt_json_uint(&w->out, d->fault->value);
	if (d->cause)
		put_cause(&w->out, d->cause);
}

static void put_process(dt_writer *w, const dt_diag *d)
{
	dt_buf_puts(&w->out, "{\"type\":\"process\",\"pid\":");
	dt_json_int(&w->out, d->pid);
	if (d->ended) {
		dt_buf_puts(&w->out, ",\"ended\":true,\"status\":");
		dt_json_int(&w->out, d->status);
	}
}

static bool ndjson_diag(dt_writer *w, const dt_diag *d)
{
	switch (d->kind) {
	case DT_DIAG_DROP: put_drop(w, d); break;
	case DT_DIAG_FAULT:
		if (d->fault)
			put_fault(w, d);
		else
			dt_buf_puts(&w->out, "{\"type\":\"error\"");
		break;
	case DT_DIAG_PROCESS: put_process(w, d); break;
	case DT_DIAG_COST:
	case DT_DIAG_NOTE: dt_buf_puts(&w->out, "{\"type\":\"note\""); break;
	}
	dt_json_key(&w->out, "text");
	dt_json_name(&w->out, d->text, strlen(d->text));
	dt_buf_puts(&w->out, "}\n");
	return true;
}

static void put_error(dt_buf *out, const dt_error *e)
{
	const char *message = e->text[0] ? e->text : dt_strerror(e->code);

	dt_json_key(out, "message");
	dt_json_name(out, message, strlen(message));
	if (e->tag) {
		dt_json_key(out, "tag");
		dt_json_name(out, dt_tag_name(e->tag), strlen(dt_tag_name(e->tag)));
	}
	put_pos(out, &e->pos);
	dt_json_key(out, "errno");
	dt_json_int(out, e->code);
}

void dt_ndjson_error(dt_buf *out, const char *text, const dt_error *e)
{
	dt_buf_puts(out, "{\"type\":\"error\",\"text\":");
	dt_json_name(out, text, strlen(text));
	if (e)
		put_error(out, e);
	dt_buf_puts(out, "}\n");
}

static int ndjson_end(dt_writer *w, dt_error *err)
{
	(void)err;
	dt_buf_puts(&w->out, "{\"type\":\"end\",\"time\":");
	dt_json_uint(&w->out, dt_now_kernel());
	dt_json_key(&w->out, "records");
	dt_json_uint(&w->out, w->records);
	dt_json_key(&w->out, "drops");
	dt_json_uint(&w->out, w->drops);
	dt_buf_puts(&w->out, "}\n");
	return 0;
}

static dt_buf *ndjson_output(dt_writer *w)
{
	return &w->out;
}

const struct dt_writer_ops dt_writer_ndjson = {
    .name = "ndjson",
    .open = ndjson_open,
    .close = ndjson_close,
    .record_begin = ndjson_record_begin,
    .trace = ndjson_trace,
    .print = ndjson_print,
    .memory = ndjson_memory,
    .stack = ndjson_other,
    .symbol = ndjson_other,
    .printf = ndjson_printf,
    .aggs = ndjson_aggs,
    .record_end = ndjson_record_end,
    .end = ndjson_end,
    .diag = ndjson_diag,
    .output = ndjson_output,
};
