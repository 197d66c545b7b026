/*
 * callbacks: the writer that calls the functions of a struct dtrace_consumer instead of writing.
 *
 * The items of a record are collected, since each of them must be valid until the record's function
 * returns; then it is called once. The texts of printf() are kept one after the other in one
 * buffer.
 */
#include <stdlib.h>

#include "format/formats.h"
#include "format/typed.h"

struct item {
	struct dtrace_item pub;
	dtrace_value_t *values;
	size_t text; /* where its text begins in the buffer */
};

struct dtrace_record {
	struct dtrace_recordinfo info; /* first: dtrace_record_info() */
	DT_VEC(struct item) items;
};

struct dt_writer {
	struct dtrace_consumer to;
	const struct dt_consumer_env *env;
	dt_typed *maker;     /* of a record's values */
	dt_typed *row_maker; /* of a row's: a printa() may come in the middle of a record */
	struct dtrace_record rec;
	dt_buf texts;
	dt_buf none; /* never filled */
	unsigned snapshots;
	bool by_itself; /* the clause has no actions */
	bool aborted;
};

static dt_writer *callbacks_open(const struct dt_consumer_env *env)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));
	const struct dtrace_consumer *to = env->writer_arg;

	memcpy(&w->to, to, to->size < sizeof(w->to) ? to->size : sizeof(w->to));
	w->env = env;
	w->maker = dt_typed_new(env);
	w->row_maker = dt_typed_new(env);
	return w;
}

static void callbacks_close(dt_writer *w)
{
	dt_typed_free(w->maker);
	dt_typed_free(w->row_maker);
	dt_vec_free(&w->rec.items);
	dt_buf_free(&w->texts);
	free(w);
}

/* ---- records ---- */

static void callbacks_record_begin(dt_writer *w, const dt_record_event *r)
{
	struct dtrace_recordinfo *info = &w->rec.info;

	dt_typed_reset(w->maker);
	dt_buf_reset(&w->texts);
	w->rec.items.n = 0;
	w->by_itself = r->clause->nstmts == 0;
	dt_typed_probe(r->probe, &info->probe);
	info->cpu = r->cpu;
	info->time = r->timestamp;
	info->clause = r->epid;
	info->line = r->clause->pos.line;
}

/* An item with n values. */
static struct item *add_item(dt_writer *w, const char *action, const dt_value *v, uint32_t n)
{
	struct item *it = dt_vec_add(&w->rec.items, NULL);

	*it = (struct item){.pub = {.action = action, .nvalues = n}};
	it->values = dt_typed_values(w->maker, n);
	for (uint32_t i = 0; i < n; i++)
		dt_typed_set(w->maker, dt_typed_nth(it->values, i), &v[i], v[i].name);
	return it;
}

static void callbacks_trace(dt_writer *w, const dt_value *v)
{
	add_item(w, "trace", v, 1);
}

static void callbacks_print(dt_writer *w, const dt_value *v, dt_type *type)
{
	dt_value as;

	dt_value_as(w->env->types, v, type, &as);
	add_item(w, "print", &as, 1);
}

static void callbacks_other(dt_writer *w, const dt_value *v)
{
	add_item(w, dt_act_name(v->act), v, 1);
}

static void callbacks_printf(dt_writer *w, const char *text, size_t len, const struct dt_format *f,
			     const dt_value *args, uint32_t nargs)
{
	struct item *it;

	(void)f;
	if (nargs == 1 && args[0].kind == DT_V_NONE)
		nargs = 0;
	it = add_item(w, "printf", args, nargs);
	it->text = w->texts.n;
	it->pub.text = "";
	it->pub.textlen = len;
	dt_buf_add(&w->texts, text, len);
	dt_buf_putc(&w->texts, '\0');
}

static void callbacks_record_end(dt_writer *w)
{
	if ((w->rec.items.n == 0 && !w->by_itself) || !w->to.record || w->aborted)
		return;
	for (uint32_t i = 0; i < w->rec.items.n; i++)
		if (w->rec.items.v[i].pub.text)
			w->rec.items.v[i].pub.text = w->texts.s + w->rec.items.v[i].text;
	w->rec.info.nitems = w->rec.items.n;
	w->aborted = w->to.record(&w->rec, w->to.arg) != 0;
}

const struct dtrace_recordinfo *dtrace_record_info(const dtrace_record_t *r)
{
	return &r->info;
}

const struct dtrace_item *dtrace_record_item(const dtrace_record_t *r, unsigned i)
{
	return i < r->items.n ? &r->items.v[i].pub : NULL;
}

const dtrace_value_t *dtrace_record_value(const dtrace_record_t *r, unsigned item, unsigned i)
{
	if (item >= r->items.n || i >= r->items.v[item].pub.nvalues)
		return NULL;
	return dt_typed_nth(r->items.v[item].values, i);
}

/* ---- aggregations and diagnostics ---- */

static int callbacks_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	(void)err;
	w->snapshots++;
	if (w->to.aggregation && !w->aborted)
		w->aborted =
		    dt_typed_rows(w->row_maker, t, w->snapshots, w->to.aggregation, w->to.arg) != 0;
	return 0;
}

static int give_drop(const dt_writer *w, const dt_diag *d)
{
	struct dtrace_drop drop = {
	    .text = d->text,
	    .kind = d->tag,
	    .count = d->count,
	    .total = d->total,
	    .cpu = d->on_cpu ? (int)d->cpu : -1,
	};

	return w->to.drop ? w->to.drop(&drop, w->to.arg) : 0;
}

static int give_fault(const dt_writer *w, const dt_diag *d)
{
	struct dtrace_fault f = {.text = d->text, .what = d->text, .offset = -1};

	if (d->fault) {
		dt_typed_probe(d->ecb->probe, &f.probe);
		f.clause = d->ecb->epid;
		f.cpu = d->cpu;
		f.time = d->timestamp;
		f.code = d->fault->code;
		f.what = dt_fault_name(d->fault->code);
		f.action = d->fault->action;
		f.offset = d->fault->offset;
		f.value = d->fault->value;
	}
	if (d->cause) {
		f.file = d->cause->place->pos.file;
		f.line = d->cause->place->pos.line;
		f.column = d->cause->place->pos.column;
		f.expression = d->cause->expression.s;
		f.reason = d->cause->reason.s;
	}
	return w->to.fault ? w->to.fault(&f, w->to.arg) : 0;
}

static int give_process(const dt_writer *w, const dt_diag *d)
{
	struct dtrace_process p = {
	    .text = d->text, .pid = d->pid, .ended = d->ended, .status = d->status};

	return w->to.process ? w->to.process(&p, w->to.arg) : 0;
}

static bool callbacks_diag(dt_writer *w, const dt_diag *d)
{
	int rc = 0;

	if (w->aborted)
		return true;
	switch (d->kind) {
	case DT_DIAG_DROP: rc = give_drop(w, d); break;
	case DT_DIAG_FAULT: rc = give_fault(w, d); break;
	case DT_DIAG_PROCESS: rc = give_process(w, d); break;
	case DT_DIAG_COST:
	case DT_DIAG_NOTE: rc = w->to.note ? w->to.note(d->text, w->to.arg) : 0; break;
	}
	w->aborted = rc != 0;
	return true;
}

static int callbacks_check(dt_writer *w, dt_error *err)
{
	return w->aborted ? dt_err(err, EDT_DIRABORT, NULL) : 0;
}

static dt_buf *callbacks_output(dt_writer *w)
{
	return &w->none;
}

const struct dt_writer_ops dt_writer_callbacks = {
    .name = "callbacks",
    .flags = DT_WRITER_DOCUMENT,
    .open = callbacks_open,
    .close = callbacks_close,
    .record_begin = callbacks_record_begin,
    .trace = callbacks_trace,
    .print = callbacks_print,
    .memory = callbacks_other,
    .stack = callbacks_other,
    .symbol = callbacks_other,
    .printf = callbacks_printf,
    .aggs = callbacks_aggs,
    .record_end = callbacks_record_end,
    .diag = callbacks_diag,
    .check = callbacks_check,
    .output = callbacks_output,
};
