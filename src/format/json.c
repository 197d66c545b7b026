/*
 * json: the whole trace as one JSON document, in the shape of FreeBSD's -x oformat=json.
 *
 *	{"dtrace": {"probes": [
 *	  {"timestamp": , "cpu": , "id": , "provider": , "module": , "function": , "name": , "output": [ ... ]}, ...
 *	], "aggregations": [ ... ]}}
 *
 * An action adds instances to "output": {"value": } for trace(), print() of plain values and the
 * arguments of printf(), {"message": } for its text, "stack-frames", "ustack-frames", sym, mod,
 * usym, umod, tracemem, printm, "type" for structures, "aggregation-data" and "aggregation-name".
 * Records that print nothing are omitted, except those of clauses without actions. Drops are probes
 * dtrace:INTERNAL:INTERNAL:DROP. The remaining aggregations at the end follow the probes.
 */
#include <stdlib.h>

#include "format/json_text.h"
#include "format/formats.h"

struct dt_writer {
	const struct dt_consumer_env *env;
	dt_buf out, rec;
	size_t shown; /* where the record's first output begins */
	bool empty;   /* the record's clause has no actions */
	bool any;     /* a probe has been written */
	bool at_exit; /* "aggregations" is open */
};

static dt_writer *json_open(const struct dt_consumer_env *env)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));

	w->env = env;
	dt_buf_puts(&w->out, "{\"dtrace\": {\"probes\": [");
	return w;
}

static void json_close(dt_writer *w)
{
	dt_buf_free(&w->out);
	dt_buf_free(&w->rec);
	free(w);
}

/* ---- records ---- */

static void json_record_begin(dt_writer *w, const dt_record_event *r)
{
	dt_buf_reset(&w->rec);
	w->empty = r->clause->nstmts == 0;
	dt_buf_puts(&w->rec, "{\"timestamp\":");
	dt_json_uint(&w->rec, r->timestamp);
	dt_json_key(&w->rec, "cpu");
	dt_json_uint(&w->rec, r->cpu);
	dt_json_key(&w->rec, "id");
	dt_json_uint(&w->rec, r->probe->id);
	dt_json_probe(&w->rec, r->probe);
	dt_json_key(&w->rec, "output");
	dt_buf_putc(&w->rec, '[');
	w->shown = w->rec.n;
}

static void begin_probe(dt_writer *w)
{
	dt_buf_puts(&w->out, w->any ? ",\n" : "\n");
	w->any = true;
}

static void json_record_end(dt_writer *w)
{
	if (w->rec.n == w->shown && !w->empty)
		return;
	begin_probe(w);
	dt_buf_puts(&w->rec, "]}");
	dt_buf_add(&w->out, w->rec.s, w->rec.n);
}

/* An instance of "output": its first key follows. */
static dt_buf *instance(dt_writer *w)
{
	dt_buf_puts(&w->rec, w->rec.n == w->shown ? "{" : ",{");
	return &w->rec;
}

static void put_string(dt_buf *out, const char *key, const char *s)
{
	dt_json_key(out, key);
	dt_json_name(out, s, strlen(s));
}

static void put_frame_name(dt_buf *out, const char *key, const dt_frame *f)
{
	dt_buf b = {0};

	dt_text_frame(&b, f);
	dt_json_key(out, key);
	dt_json_name(out, b.s, b.n);
	dt_buf_free(&b);
}

/* Of a place that has a name. */
static void put_place(dt_buf *out, const dt_frame *f)
{
	if (!f->sym)
		return;
	put_string(out, "name", f->sym);
	dt_json_key(out, "offset");
	dt_json_uint(out, f->off);
}

static void put_frames(dt_writer *w, dt_buf *out, const dt_value *v)
{
	bool user = dt_act(v->act)->payload == DT_PAYLOAD_USTACK;
	size_t at = 0;

	dt_json_key(out, user ? "ustack-frames" : "stack-frames");
	dt_buf_putc(out, '[');
	for (uint32_t i = 0; i < v->nframes; i++) {
		const char *helper = dt_value_helper(v, &at);
		dt_frame f;

		dt_symbolise(w->env, v, i, &f);
		dt_buf_puts(out, i ? ",{" : "{");
		put_frame_name(out, "symbol", &f);
		if (f.mod)
			put_string(out, "module", f.mod);
		put_place(out, &f);
		if (helper[0])
			put_string(out, "annotation", helper[0] == '@' ? helper + 1 : helper);
		dt_buf_putc(out, '}');
	}
	dt_buf_putc(out, ']');
}

/* sym, mod, usym, umod; func and ufunc are other names of the first and the third. */
static void put_symbol(dt_writer *w, dt_buf *out, const dt_value *v)
{
	dt_frame f;

	dt_symbolise(w->env, v, 0, &f);
	if (v->act == DT_ACT_MOD || v->act == DT_ACT_UMOD) {
		f.sym = NULL;
		if (f.mod)
			put_string(out, dt_act_name(v->act), f.mod);
		else
			put_frame_name(out, dt_act_name(v->act), &f);
		return;
	}
	put_frame_name(out, dt_act_name(v->act), &f);
	if (f.mod)
		put_string(out, "object", f.mod);
	put_place(out, &f);
}

/* "value": ..., or the fields of a stack or symbol. */
static void put_value(dt_writer *w, dt_buf *out, const dt_value *v)
{
	if (v->kind == DT_V_STACK) {
		put_frames(w, out, v);
	} else if (v->kind == DT_V_SYMBOL) {
		put_symbol(w, out, v);
	} else {
		dt_json_key(out, "value");
		dt_json_value(out, w->env, v);
	}
}

static void json_trace(dt_writer *w, const dt_value *v)
{
	dt_buf *out = instance(w);

	put_value(w, out, v);
	dt_buf_putc(out, '}');
}

/* The name of the object that has the type, its own name, and its members. */
static void put_members(dt_writer *w, dt_buf *out, const dt_value *v, const char *member,
			unsigned depth)
{
	const char *object = v->type && v->type->module ? v->type->module : "";
	dt_buf name = {0};
	const char *child_name;
	dt_value child;

	dt_type_print(w->env->types, v->type, NULL, &name);
	dt_buf_putc(out, '{');
	put_string(out, "object-name", object);
	put_string(out, "name", name.s ? name.s : "");
	dt_json_key(out, "ctfid");
	dt_json_uint(out, dt_type_resolve(v->type)->btf_id);
	if (member)
		put_string(out, "member-name", member);
	dt_buf_free(&name);
	dt_json_key(out, "value");
	if (dt_value_is_structure(v) && depth < 32) {
		dt_buf_putc(out, '[');
		for (uint32_t i = 0; dt_value_child(w->env->types, v, i, &child, &child_name);
		     i++) {
			if (i > 0)
				dt_buf_putc(out, ',');
			put_members(w, out, &child, child_name ? child_name : "", depth + 1);
		}
		dt_buf_putc(out, ']');
	} else {
		dt_json_value(out, w->env, v);
	}
	dt_buf_putc(out, '}');
}

static void json_print(dt_writer *w, const dt_value *v, dt_type *type)
{
	dt_buf *out = instance(w);
	dt_value as;

	dt_value_as(w->env->types, v, type, &as);
	if (as.type) {
		dt_json_key(out, "type");
		dt_buf_putc(out, '[');
		put_members(w, out, &as, NULL, 0);
		dt_buf_putc(out, ']');
	} else {
		put_value(w, out, &as);
	}
	dt_buf_putc(out, '}');
}

static void json_memory(dt_writer *w, const dt_value *v)
{
	dt_buf *out = instance(w);

	dt_json_key(out, v->act == DT_ACT_PRINTM ? "printm" : "tracemem");
	dt_json_hex(out, v->data, v->size);
	dt_buf_putc(out, '}');
}

static void json_printf(dt_writer *w, const char *text, size_t len, const struct dt_format *f,
			const dt_value *args, uint32_t nargs)
{
	dt_buf *out = instance(w);

	(void)f;
	dt_json_key(out, "message");
	dt_json_string(out, text, len);
	dt_buf_putc(out, '}');
	for (uint32_t i = 0; i < nargs; i++)
		if (args[i].kind != DT_V_NONE)
			json_trace(w, &args[i]);
}

/* ---- aggregations ---- */

static void put_buckets(dt_buf *out, const struct dt_buckets *b, uint64_t normal)
{
	bool first = true;

	dt_buf_putc(out, '[');
	for (uint32_t i = 0; i < b->n; i++) {
		bool open_end = b->func != DT_ACT_QUANTIZE && (i == 0 || i == b->n - 1);

		if (dt_bucket_count(b, i, 1) == 0)
			continue;
		dt_buf_puts(out, first ? "{" : ",{");
		first = false;
		dt_json_key(out, "value");
		dt_json_int(out, dt_bucket_bound(b, i));
		dt_json_key(out, "count");
		dt_json_int(out, dt_bucket_count(b, i, normal));
		if (open_end)
			put_string(out, "operator", i == 0 ? "<" : ">=");
		dt_buf_putc(out, '}');
	}
	dt_buf_putc(out, ']');
}

static void put_result(dt_buf *out, const dt_aggset *s, const uint64_t *value)
{
	struct dt_buckets b;

	if (dt_agg_is_quantizer(s->agg)) {
		dt_json_key(out, "buckets");
		if (dt_buckets_of(s->agg, value, &b))
			put_buckets(out, &b, s->normal);
		else
			dt_buf_puts(out, "[]");
		return;
	}
	dt_json_key(out, s->agg->func == DT_ACT_AVG ? "average" : dt_act_name(s->agg->func));
	dt_json_int(out, dt_agg_number(s->agg, value, s->normal));
}

static void put_table(dt_writer *w, dt_buf *out, const dt_aggtable *t, uint32_t which)
{
	bool first = true;

	dt_json_key(out, "aggregation-data");
	dt_buf_putc(out, '[');
	for (uint32_t i = 0; i < t->nlines; i++) {
		const dt_aggline *l = &t->lines[i];

		if (!l->values[which])
			continue;
		dt_buf_puts(out, first ? "\n{" : ",\n{");
		first = false;
		dt_json_key(out, "keys");
		dt_buf_putc(out, '[');
		for (uint32_t k = 0; k < l->agg->nkeys; k++) {
			dt_value v;

			dt_value_of(&l->agg->keys[k], &l->keys[k], &v);
			dt_buf_puts(out, k ? ",{" : "{");
			put_value(w, out, &v);
			dt_buf_putc(out, '}');
		}
		dt_buf_putc(out, ']');
		put_result(out, t->sets[which], l->values[which]);
		dt_buf_putc(out, '}');
	}
	dt_buf_putc(out, ']');
	put_string(out, "aggregation-name", t->sets[which]->agg->name);
}

static int json_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	(void)err;
	for (uint32_t i = 0; i < t->nsets; i++) {
		dt_buf *out = t->at_exit ? &w->out : instance(w);

		if (t->at_exit)
			dt_buf_puts(out, w->at_exit ? ",\n{" : "\n], \"aggregations\": [\n{");
		w->at_exit |= t->at_exit;
		put_table(w, out, t, i);
		dt_buf_putc(out, '}');
	}
	return 0;
}

/* ---- diagnostics, and the end ---- */

/* Faults and notices go to standard error. */
static bool json_diag(dt_writer *w, const dt_diag *d)
{
	if (d->kind != DT_DIAG_DROP || !d->tag || w->at_exit)
		return false;
	begin_probe(w);
	dt_buf_puts(&w->out, "{\"cpu\":");
	dt_json_int(&w->out, d->on_cpu ? (int64_t)d->cpu : -1);
	dt_buf_puts(&w->out, ",\"id\":-1,\"provider\":\"dtrace\",\"module\":\"INTERNAL\","
			     "\"function\":\"INTERNAL\",\"name\":\"DROP\",\"timestamp\":");
	dt_json_uint(&w->out, dt_now_kernel());
	dt_json_key(&w->out, "count");
	dt_json_uint(&w->out, d->count);
	dt_json_key(&w->out, "total");
	dt_json_uint(&w->out, d->total);
	dt_json_key(&w->out, "kind");
	dt_json_int(&w->out, d->number);
	put_string(&w->out, "msg", d->text);
	dt_buf_putc(&w->out, '}');
	return true;
}

static int json_end(dt_writer *w, dt_error *err)
{
	(void)err;
	dt_buf_puts(&w->out, "\n]}}\n");
	return 0;
}

static dt_buf *json_output(dt_writer *w)
{
	return &w->out;
}

const struct dt_writer_ops dt_writer_json = {
    .name = "json",
    .flags = DT_WRITER_DOCUMENT,
    .open = json_open,
    .close = json_close,
    .record_begin = json_record_begin,
    .trace = json_trace,
    .print = json_print,
    .memory = json_memory,
    .stack = json_trace,
    .symbol = json_trace,
    .printf = json_printf,
    .aggs = json_aggs,
    .record_end = json_record_end,
    .end = json_end,
    .diag = json_diag,
    .output = json_output,
};
