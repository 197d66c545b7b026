/*
 * text_session: a session for the tests of text output. Records are made by hand and come from an
 * engine that only returns what it was given; finish() compares the output with what is expected.
 *
 *	start();
 *	f = record("dtrace", "", "BEGIN");
 *	stmt(f, DT_ST_TRACE);
 *	number(f, t->int_, -5);
 *	work();
 *	finish("...");
 */
#ifndef DT_TEXT_SESSION_H
#define DT_TEXT_SESSION_H

#include <stdlib.h>

#include "consume/writer.h"
#include "dif/quantize.h"
#include "unit.h"

#define UNUSED_OK __attribute__((unused))

/* ---- a session of our own ---- */

static dt_options opts;
static dt_types *types;
static dt_arena *arena;
static char *output;
static size_t output_size;
static FILE *stream;
static dt_consumer *consumer;
static char diags[4096];

static int diag(void *arg, const dt_diag *d)
{
	(void)arg;
	strncat(diags, d->text, sizeof(diags) - strlen(diags) - 2);
	strcat(diags, "\n");
	return 0;
}

static bool ksym(void *arg, uint64_t addr, const char **mod, const char **sym, uint64_t *off)
{
	(void)arg;
	*mod = "vmlinux";
	*sym = addr >= 0x1000 && addr < 0x2000 ? "vfs_read" : NULL;
	*off = addr - 0x1000;
	return addr < 0x10000;
}

static bool usym(void *arg, long pid, uint64_t time, uint64_t addr, const char **obj,
		 const char **sym, uint64_t *off)
{
	(void)arg;
	(void)time;
	*obj = "/lib/libc.so.6";
	*sym = addr >= 0x500 && addr < 0x600 ? "malloc" : NULL;
	*off = addr - 0x500;
	return pid == 42 && addr < 0x1000;
}

static struct dt_consumer_env env;

static void start(void)
{
	dt_options_init(&opts);
	diags[0] = 0;
	stream = open_memstream(&output, &output_size);
	env = (struct dt_consumer_env){
	    .opts = &opts, .types = types, .out = stream, .diag = diag, .ksym = ksym, .usym = usym};
	consumer = dt_consumer_new(&env);
}

static void option(const char *name, const char *value)
{
	dt_error err;

	CHECK(dt_options_set(&opts, name, value, DT_WHEN_OPEN, &err) == 0);
}

static void finish(const char *want)
{
	dt_consumer_free(consumer);
	fclose(stream);
	CHECK_STR(output, want);
	free(output);
	dt_options_free(&opts);
}

/* ---- clauses and records ---- */

struct fake { /* one record */
	dt_action actions[8];
	dt_datum values[8];
	dt_stmt stmts[8];
	dt_clause clause;
	dt_probe probe;
	dt_ecb ecb;
	dt_record rec;
};

static struct fake *records[32];
static uint32_t nrecords;
static struct {
	const dt_agg *agg;
	dt_datum keys[4];
	uint64_t value[200];
} rows[64];
static uint32_t nrows;
static dt_status status;

static struct fake *record(const char *prov, const char *func, const char *name)
{
	struct fake *f = dt_arena_alloc(arena, sizeof(*f));

	f->probe = (dt_probe){.id = 7, .prov = prov, .mod = "", .func = func, .name = name};
	f->clause.actions = f->actions;
	f->clause.stmts = f->stmts;
	f->ecb = (dt_ecb){.epid = 3, .probe = &f->probe, .clause = &f->clause};
	f->rec = (dt_record){.ecb = &f->ecb, .values = f->values};
	return records[nrecords++] = f;
}

static dt_stmt UNUSED_OK *stmt(struct fake *f, enum dt_stmt_kind kind)
{
	dt_stmt *s = &f->stmts[f->clause.nstmts++];

	s->kind = kind;
	s->first = f->clause.nactions;
	return s;
}

static dt_difo UNUSED_OK *difo(dt_type *t, uint8_t kind, uint8_t flags, uint32_t size)
{
	dt_difo *d = dt_arena_alloc(arena, sizeof(*d));
	dt_type *r = dt_type_resolve(t);

	d->type = t;
	d->rtype = (dt_diftype){kind, (uint8_t)r->kind, flags, 0, size};
	return d;
}

static void UNUSED_OK datum(struct fake *f, enum dt_act kind, dt_difo *d, const void *data,
			    uint32_t size, uint32_t full)
{
	uint32_t i = f->clause.nactions++;

	f->actions[i] = (dt_action){.kind = kind, .difo = d, .size = full};
	f->values[i] = (dt_datum){dt_arena_dup(arena, data, size), size, 0};
	f->stmts[f->clause.nstmts - 1].nactions++;
}

static void UNUSED_OK number(struct fake *f, dt_type *t, int64_t v)
{
	uint32_t size = (uint32_t)dt_type_size(types, t);

	datum(f, DT_ACT_DIFEXPR, difo(t, DT_TYPE_CTF, 0, size), &v, size, size);
}

static void UNUSED_OK string(struct fake *f, const char *s)
{
	datum(f, DT_ACT_DIFEXPR, difo(dt_intrinsics(types)->string, DT_TYPE_STRING, 1, 256), s,
	      (uint32_t)strlen(s) + 1, 256);
}

static void UNUSED_OK bytes(struct fake *f, dt_type *t, const void *p, uint32_t n)
{
	datum(f, DT_ACT_DIFEXPR, difo(t, DT_TYPE_CTF, DT_TF_BYREF, n), p, n, n);
}

/* ---- the engine ---- */

static int fake_status(dt_engine *e, dt_status *st)
{
	(void)e;
	*st = status;
	return 0;
}

static int fake_consume(dt_engine *e, const dt_sink *sink)
{
	uint32_t n = nrecords;

	(void)e;
	nrecords = 0;
	for (uint32_t i = 0; i < n; i++) {
		records[i]->rec.nactions = records[i]->clause.nactions;
		if (sink->record(sink->arg, &records[i]->rec) < 0)
			return -1;
	}
	return 0;
}

static int fake_snapshot(dt_engine *e, const dt_sink *sink, dt_error *err)
{
	(void)err;
	uint32_t n = nrows;

	(void)e;
	nrows = 0;
	for (uint32_t i = 0; i < n; i++)
		sink->agg(sink->arg, rows[i].agg, 0, rows[i].keys, rows[i].value);
	return 0;
}

static const struct dt_engine_ops engine = {
    .status = fake_status, .consume = fake_consume, .snapshot = fake_snapshot};

static int work(void)
{
	dt_error err;

	return dt_consumer_work(consumer, &engine, NULL, false, &err);
}

/* ---- aggregations ---- */

static dt_agg UNUSED_OK *aggregation(uint32_t id, enum dt_act func, uint64_t param, uint32_t nkeys,
				     dt_type **key_types)
{
	dt_agg *a = dt_arena_alloc(arena, sizeof(*a));

	a->name = "a";
	a->id = id;
	a->func = func;
	a->param = param;
	a->nkeys = nkeys;
	a->nwords = dt_agg_words(func, param);
	a->keys = dt_arena_alloc(arena, (nkeys + 1) * sizeof(dt_action));
	for (uint32_t i = 0; i < nkeys; i++) {
		bool str = dt_type_is_string(key_types[i]);
		uint32_t size = (uint32_t)dt_type_size(types, key_types[i]);

		a->keys[i].kind = DT_ACT_DIFEXPR;
		a->keys[i].size = size;
		a->keys[i].difo = difo(key_types[i], str ? DT_TYPE_STRING : DT_TYPE_CTF, str, size);
	}
	return a;
}

static uint64_t UNUSED_OK *row(const dt_agg *a)
{
	memset(&rows[nrows], 0, sizeof(rows[0]));
	rows[nrows].agg = a;
	if (dt_agg_first_bucket(a->func))
		rows[nrows].value[0] = a->param;
	return rows[nrows++].value;
}

static void UNUSED_OK key_string(uint32_t i, const char *s)
{
	rows[nrows - 1].keys[i] = (dt_datum){dt_arena_strdup(arena, s), (uint32_t)strlen(s) + 1, 0};
}

static void UNUSED_OK key_int(uint32_t i, int64_t v, uint32_t size)
{
	rows[nrows - 1].keys[i] = (dt_datum){dt_arena_dup(arena, &v, 8), size, 0};
}

static void UNUSED_OK quantize(uint64_t *value, int64_t v, int64_t incr)
{
	value[dt_quantize_bucket(v)] += (uint64_t)incr;
}

static void UNUSED_OK printa(const dt_agg *a, const dt_agg *b)
{
	struct fake *f = record("dtrace", "", "BEGIN");
	dt_stmt *s = stmt(f, DT_ST_PRINTA);

	s->aggs = dt_arena_alloc(arena, 2 * sizeof(*s->aggs));
	s->aggs[0] = (dt_agg *)a;
	s->aggs[1] = (dt_agg *)b;
	s->naggs = b ? 2 : 1;
}

static void UNUSED_OK on_agg(enum dt_stmt_kind kind, const dt_agg *a, int64_t n)
{
	printa(a, NULL);
	records[nrecords - 1]->stmts[0].kind = kind;
	number(records[nrecords - 1], dt_intrinsics(types)->int64, n);
}

/* ---- formats ---- */

/* Arguments are taken in order, as the compiler would say. */
static dt_format UNUSED_OK *format(const char *text)
{
	dt_error err = {0};
	dt_format *f = dt_format_parse(arena, text, strlen(text), &err);
	int next = 0;

	CHECK(f != NULL);
	for (uint32_t i = 0; f && i < f->nconvs; i++) {
		dt_conv *c = &f->convs[i];

		c->width_arg = c->flags & DT_CF_DYNWIDTH ? next++ : -1;
		c->prec_arg = c->flags & DT_CF_DYNPREC ? next++ : -1;
		c->arg = c->letter && !(c->flags & DT_CF_AGG) ? next++ : -1;
	}
	return f;
}

static struct fake UNUSED_OK *print(const char *text)
{
	struct fake *f = record("dtrace", "", "BEGIN");

	stmt(f, DT_ST_PRINTF)->format = format(text);
	return f;
}

/* ---- all tests of a program ---- */

static void begin_tests(void)
{
	arena = dt_arena_new();
	types = dt_types_new();
	dt_types_set_btf_path(types, NULL);
	dt_types_set_strsize(types, 256);
}

static int end_tests(void)
{
	dt_types_free(types);
	dt_arena_free(arena);
	return unit_done();
}

#endif
