/*
 * test_text: the text layouts, to the byte.
 *
 * Records are made by hand and come from an engine that only returns what it was given.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "consume/writer.h"
#include "dif/quantize.h"
#include "unit.h"

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

static dt_stmt *stmt(struct fake *f, enum dt_stmt_kind kind)
{
	dt_stmt *s = &f->stmts[f->clause.nstmts++];

	s->kind = kind;
	s->first = f->clause.nactions;
	return s;
}

static dt_difo *difo(dt_type *t, uint8_t kind, uint8_t flags, uint32_t size)
{
	dt_difo *d = dt_arena_alloc(arena, sizeof(*d));
	dt_type *r = dt_type_resolve(t);

	d->type = t;
	d->rtype = (dt_diftype){kind, (uint8_t)r->kind, flags, 0, size};
	return d;
}

static void datum(struct fake *f, enum dt_act kind, dt_difo *d, const void *data, uint32_t size,
		  uint32_t full)
{
	uint32_t i = f->clause.nactions++;

	f->actions[i] = (dt_action){.kind = kind, .difo = d, .size = full};
	f->values[i] = (dt_datum){dt_arena_dup(arena, data, size), size, 0};
	f->stmts[f->clause.nstmts - 1].nactions++;
}

static void number(struct fake *f, dt_type *t, int64_t v)
{
	uint32_t size = (uint32_t)dt_type_size(types, t);

	datum(f, DT_ACT_DIFEXPR, difo(t, DT_TYPE_CTF, 0, size), &v, size, size);
}

static void string(struct fake *f, const char *s)
{
	datum(f, DT_ACT_DIFEXPR, difo(dt_intrinsics(types)->string, DT_TYPE_STRING, 1, 256), s,
	      (uint32_t)strlen(s) + 1, 256);
}

static void bytes(struct fake *f, dt_type *t, const void *p, uint32_t n)
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
	for (uint32_t i = 0; i < n; i++)
		if (sink->record(sink->arg, &records[i]->rec) < 0)
			return -1;
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

static dt_agg *aggregation(uint32_t id, enum dt_act func, uint64_t param, uint32_t nkeys,
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

static uint64_t *row(const dt_agg *a)
{
	memset(&rows[nrows], 0, sizeof(rows[0]));
	rows[nrows].agg = a;
	if (dt_agg_first_bucket(a->func))
		rows[nrows].value[0] = a->param;
	return rows[nrows++].value;
}

static void key_string(uint32_t i, const char *s)
{
	rows[nrows - 1].keys[i] = (dt_datum){dt_arena_strdup(arena, s), (uint32_t)strlen(s) + 1, 0};
}

static void key_int(uint32_t i, int64_t v, uint32_t size)
{
	rows[nrows - 1].keys[i] = (dt_datum){dt_arena_dup(arena, &v, 8), size, 0};
}

static void quantize(uint64_t *value, int64_t v, int64_t incr)
{
	value[dt_quantize_bucket(v)] += (uint64_t)incr;
}

static void printa(const dt_agg *a, const dt_agg *b)
{
	struct fake *f = record("dtrace", "", "BEGIN");
	dt_stmt *s = stmt(f, DT_ST_PRINTA);

	s->aggs = dt_arena_alloc(arena, 2 * sizeof(*s->aggs));
	s->aggs[0] = (dt_agg *)a;
	s->aggs[1] = (dt_agg *)b;
	s->naggs = b ? 2 : 1;
}

static void on_agg(enum dt_stmt_kind kind, const dt_agg *a, int64_t n)
{
	printa(a, NULL);
	records[nrecords - 1]->stmts[0].kind = kind;
	number(records[nrecords - 1], dt_intrinsics(types)->int64, n);
}

/* ---- tests ---- */

static void test_records(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	struct fake *f;

	start();
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_TRACE);
	number(f, t->int_, -5);
	stmt(f, DT_ST_TRACE);
	string(f, "hello");
	f = record("syscall", "read", "entry");
	f->rec.cpu = 12;
	stmt(f, DT_ST_TRACE);
	number(f, t->llong, 1234567890123);
	stmt(f, DT_ST_TRACE);
	number(f, t->uint16, 7);
	stmt(f, DT_ST_TRACE);
	number(f, t->char_, -1);
	record("profile", "", "tick-1s");
	CHECK(work() == 0);
	finish("CPU     ID                    FUNCTION:NAME\n"
	       "  0      7                           :BEGIN        -5  hello                       "
	       "     \n"
	       " 12      7                       read:entry     1234567890123     7 255\n"
	       "  0      7                         :tick-1s \n");
}

static void test_quiet_and_exit(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	struct fake *f;

	start();
	option("quiet", NULL);
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_TRACE);
	number(f, t->long_, -5);
	stmt(f, DT_ST_TRACE);
	string(f, " x\n");
	stmt(f, DT_ST_EXIT);
	number(f, t->int_, 3);
	CHECK(work() == 1);
	CHECK(dt_consumer_exit_status(consumer) == 3);
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("-5 x\n\n");
}

static void test_bytes(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	static const char raw[20] = "ab\001c";
	static const char text[4] = {'f', 'o', 'u', 'r'};
	static const char padded[6] = "ab";
	struct fake *f;

	start();
	option("quiet", NULL);
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_TRACE);
	bytes(f, dt_type_array(types, t->char_, 4), text, 4);
	stmt(f, DT_ST_TRACE);
	bytes(f, dt_type_array(types, t->char_, 6), padded, 6);
	stmt(f, DT_ST_TRACE);
	bytes(f, dt_type_array(types, t->char_, 20), raw, 20);
	stmt(f, DT_ST_TRACEMEM);
	datum(f, DT_ACT_TRACEMEM, NULL, text, 4, 4);
	number(f, t->uint64, 3);
	work();
	finish("fourab\n"
	       "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
	       "         0: 61 62 01 63 00 00 00 00 00 00 00 00 00 00 00 00  ab.c............\n"
	       "        10: 00 00 00 00                                      ....\n"
	       "\n"
	       "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
	       "         0: 66 6f 75                                         fou\n");
}

static void test_stacks(void)
{
	static const uint64_t kernel[4] = {0x1000, 0x1012, 0x3000, 0};
	static const uint64_t user[4] = {42, 0x501, 0x99999, 0};
	static const uint64_t address = 0x1012;
	struct fake *f;

	start();
	f = record("fbt", "f", "entry");
	stmt(f, DT_ST_STACK);
	datum(f, DT_ACT_STACK, NULL, kernel, 32, 32);
	stmt(f, DT_ST_STACK);
	datum(f, DT_ACT_USTACK, NULL, user, 32, 32);
	stmt(f, DT_ST_SYM);
	datum(f, DT_ACT_SYM, NULL, &address, 8, 8);
	stmt(f, DT_ST_SYM);
	datum(f, DT_ACT_MOD, NULL, &address, 8, 8);
	stmt(f, DT_ST_SYM);
	datum(f, DT_ACT_UADDR, NULL, user, 16, 16);
	work();
	finish("CPU     ID                    FUNCTION:NAME\n"
	       "  0      7                          f:entry \n"
	       "              vmlinux`vfs_read\n"
	       "              vmlinux`vfs_read+0x12\n"
	       "              vmlinux`0x3000\n"
	       "\n"
	       "              libc.so.6`malloc+0x1\n"
	       "              0x99999\n"
	       "  vmlinux`vfs_read                                  "
	       "  vmlinux                                           "
	       "  libc.so.6`malloc+0x1                              \n");
}

static void test_flow(void)
{
	struct fake *f;

	start();
	option("flowindent", NULL);
	option("quiet", NULL);
	record("syscall", "read", "entry");
	f = record("fbt", "vfs_read", "entry");
	f->probe.id = 8;
	f = record("fbt", "vfs_read", "entry"); /* a second clause on the same probe */
	f->probe.id = 8;
	f = record("io", "", "start");
	f->probe.id = 9;
	f = record("fbt", "vfs_read", "return");
	f->probe.id = 10;
	f = record("fbt", "vfs_read", "return");
	f->probe.id = 10;
	f = record("syscall", "read", "return");
	f->probe.id = 11;
	work();
	finish("CPU FUNCTION                                 \n"
	       "  0  => read                                  \n"
	       "  0    -> vfs_read                            \n"
	       "  0     | vfs_read:entry                      \n"
	       "  0     | :start                              \n"
	       "  0     | vfs_read:return                     \n"
	       "  0    <- vfs_read                            \n"
	       "  0  <= read                                  \n");
}

static void test_default_aggs(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *str[] = {t->string}, *pair[] = {t->int_, t->string};
	dt_agg *count = aggregation(1, DT_ACT_COUNT, 0, 1, str);
	dt_agg *avg = aggregation(2, DT_ACT_AVG, 0, 2, pair);
	dt_agg *plain = aggregation(3, DT_ACT_MIN, 0, 0, NULL);
	uint64_t *v;

	start();
	row(count)[0] = 9;
	key_string(0, "sshd");
	row(count)[0] = 2;
	key_string(0, "bash");
	row(count)[0] = 2;
	key_string(0, "awk");
	v = row(avg);
	v[0] = 3;
	v[1] = (uint64_t)-10;
	key_int(0, -1, 4);
	key_string(1, "x");
	row(plain)[0] = (uint64_t)-77;
	row(plain)[0] = 5; /* from another CPU */
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("\n"
	       "  awk                                                               2\n"
	       "  bash                                                              2\n"
	       "  sshd                                                              9\n"
	       "       -1  x                                                                -3\n"
	       "              -77\n");
}

static void test_agg_statements(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *keys[] = {t->int_};
	dt_agg *a = aggregation(1, DT_ACT_SUM, 0, 1, keys);
	dt_agg *b = aggregation(2, DT_ACT_COUNT, 0, 1, keys);

	start();
	option("quiet", NULL);
	for (int i = 1; i <= 4; i++) {
		row(a)[0] = (uint64_t)(i * 10);
		key_int(0, i, 4);
	}
	row(b)[0] = 1;
	key_int(0, 9, 4);
	row(b)[0] = 1;
	key_int(0, 2, 4);
	on_agg(DT_ST_TRUNC, a, 3);
	printa(a, NULL);
	on_agg(DT_ST_TRUNC, a, -2);
	on_agg(DT_ST_NORMALIZE, a, 10);
	printa(a, b); /* union of keys, missing values zero */
	on_agg(DT_ST_CLEAR, a, 0);
	on_agg(DT_ST_DENORMALIZE, a, 0);
	printa(a, NULL);
	work();
	row(a)[0] = 7; /* merges into the cleared row */
	key_int(0, 2, 4);
	printa(a, NULL);
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish(
	    "\n        2               20\n        3               30\n        4               40\n"
	    "\n        9                0                1\n        2                2             "
	    "   1\n"
	    "        3                3                0\n"
	    "\n        2                0\n        3                0\n"
	    "\n        3                0\n        2                7\n\n");
}

static void test_sorting(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *keys[] = {t->string, t->int_};
	dt_agg *a = aggregation(1, DT_ACT_SUM, 0, 2, keys);
	static const struct {
		const char *s;
		int i, v;
	} data[] = {{"x", 3, 1}, {"y", 2, 1}, {"z", -1, 0}};
	static const char *const options[][2] = {
	    {"aggsortkeypos", "1"}, {"aggsortkey", NULL}, {"aggsortrev", NULL}};

	start();
	option("quiet", NULL);
	for (int i = 0; i < 3; i++) {
		row(a)[0] = (uint64_t)data[i].v;
		key_string(0, data[i].s);
		key_int(1, data[i].i, 4);
	}
	printa(a, NULL);
	work();
	for (int i = 0; i < 3; i++) {
		option(options[i][0], options[i][1]);
		printa(a, NULL);
		work();
	}
#define X "  x                                                         3                1\n"
#define Y "  y                                                         2                1\n"
#define Z "  z                                                        -1                0\n"
	/* by value; ties from key 1 on; by key 1, unsigned; the reverse of that */
	finish("\n" Z X Y "\n" Z Y X "\n" Y X Z "\n" Z X Y);
}

#define HEAD "           value  ------------- Distribution ------------- count    \n"

static void test_quantize(void)
{
	dt_agg *a = aggregation(1, DT_ACT_QUANTIZE, 0, 0, NULL);
	dt_agg *b = aggregation(2, DT_ACT_QUANTIZE, 0, 0, NULL);
	dt_agg *c = aggregation(3, DT_ACT_QUANTIZE, 0, 0, NULL);
	dt_agg *d = aggregation(4, DT_ACT_QUANTIZE, 0, 0, NULL);
	uint64_t *v;

	start();
	v = row(a);
	quantize(v, 1, 10);
	quantize(v, 3, 20);
	quantize(v, 9, 10);
	row(b);
	quantize(row(c), 0, -4);
	v = row(d);
	quantize(v, -1, -1);
	quantize(v, 1, 3);
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("\n\n" HEAD "               0 |                                         0        \n"
	       "               1 |@@@@@@@@@@                               10       \n"
	       "               2 |@@@@@@@@@@@@@@@@@@@@                     20       \n"
	       "               4 |                                         0        \n"
	       "               8 |@@@@@@@@@@                               10       \n"
	       "              16 |                                         0        \n"
	       "\n\n" HEAD "              -1 |                                         0        \n"
	       "               0 |                                         0        \n"
	       "               1 |                                         0        \n"
	       "\n\n" HEAD "              -1                                         | 0        \n"
	       "               0 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -4       \n"
	       "               1                                         | 0        \n"
	       "\n\n" HEAD "              -2                     |                     0        \n"
	       "              -1                @@@@@|                     -1       \n"
	       "               0                     |                     0        \n"
	       "               1                     |@@@@@@@@@@@@@@@      3        \n"
	       "               2                     |                     0        \n"
	       "\n");
}

static void test_lquantize(void)
{
	uint64_t lp = dt_lquantize_param(0, 3, 10), llp = dt_llquantize_param(10, 0, 1, 10);
	dt_agg *a = aggregation(1, DT_ACT_LQUANTIZE, lp, 0, NULL);
	dt_agg *b = aggregation(2, DT_ACT_LQUANTIZE, lp, 0, NULL);
	dt_agg *c = aggregation(3, DT_ACT_LLQUANTIZE, llp, 0, NULL);
	uint64_t *v;

	start();
	v = row(a);
	v[1 + dt_lquantize_bucket(lp, -5)] = 1;
	v[1 + dt_lquantize_bucket(lp, 99)] = 3;
	row(b);
	v = row(c);
	v[1 + dt_llquantize_bucket(llp, 0)] = 1;
	v[1 + dt_llquantize_bucket(llp, 2)] = 1;
	v[1 + dt_llquantize_bucket(llp, 1000)] = 2;
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("\n\n" HEAD "             < 0 |@@@@@@@@@@                               1        \n"
	       "               0 |                                         0        \n"
	       "              10 |                                         0        \n"
	       "              20 |                                         0        \n"
	       "           >= 30 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
	       "\n\n" HEAD "             < 0 |                                         0        \n"
	       "               0 |                                         0        \n"
	       "              10 |                                         0        \n"
	       "\n\n" HEAD "             < 1 |@@@@@@@@@@                               1        \n"
	       "               1 |                                         0        \n"
	       "               2 |@@@@@@@@@@                               1        \n"
	       "               3 |                                         0        \n"
	       "               4 |                                         0        \n"
	       "               5 |                                         0        \n"
	       "               6 |                                         0        \n"
	       "               7 |                                         0        \n"
	       "               8 |                                         0        \n"
	       "               9 |                                         0        \n"
	       "              10 |                                         0        \n"
	       "              20 |                                         0        \n"
	       "              30 |                                         0        \n"
	       "              40 |                                         0        \n"
	       "              50 |                                         0        \n"
	       "              60 |                                         0        \n"
	       "              70 |                                         0        \n"
	       "              80 |                                         0        \n"
	       "              90 |                                         0        \n"
	       "          >= 100 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
	       "\n");
}

static void test_zoom_and_utf8(void)
{
	uint64_t lp = dt_lquantize_param(0, 4, 1);
	dt_agg *a = aggregation(1, DT_ACT_LQUANTIZE, lp, 0, NULL);
	uint64_t *v;

	start();
	option("quiet", NULL);
	v = row(a);
	v[2] = 1000;
	v[3] = 5000;
	v[4] = 500;
	option("aggzoom", NULL);
	printa(a, NULL);
	work();
	option("encoding", "utf8");
	printa(a, NULL);
	work();
	finish("\n\n" HEAD "             < 0 |                                         0        \n"
	       "               0 |@@@@@@@@                                 1000     \n"
	       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   5000     \n"
	       "               2 |@@@@                                     500      \n"
	       "               3 |                                         0        \n"
	       "\n\n\n" HEAD
	       "             < 0 |                                         0        \n"
	       "               0 |███████▌                                 1000     \n"
	       "               1 |██████████████████████████████████████   5000     \n"
	       "               2 |███▊                                     500      \n"
	       "               3 |                                         0        \n"
	       "\n");
}

static void test_pack(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	uint64_t lp = dt_lquantize_param(-10, 4, 5);
	dt_type *key[] = {t->int_}, *mixed[] = {t->string, t->char_};
	dt_agg *a = aggregation(1, DT_ACT_QUANTIZE, 0, 1, key);
	dt_agg *b = aggregation(2, DT_ACT_LQUANTIZE, lp, 0, NULL);
	dt_agg *c = aggregation(3, DT_ACT_QUANTIZE, 0, 2, mixed);
	uint64_t *v;

	start();
	option("quiet", NULL);
	option("aggpack", NULL);
	option("encoding", "ascii");
	v = row(a);
	key_int(0, 21, 4);
	quantize(v, 0, 21);
	quantize(v, 1, 79);
	v = row(a);
	key_int(0, 22, 4);
	quantize(v, 0, 22);
	quantize(v, 1, 78);
	v = row(b);
	v[1] = (uint64_t)-1;
	v[2] = 1;
	v[4] = 1;
	v = row(c);
	key_string(0, "pair");
	key_int(1, 1, 1);
	quantize(v, (int64_t)1 << 32, 1);
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	option("encoding", "utf8");
	option("aggzoom", NULL);
	printa(a, NULL);
	work();
	finish("\n\n"
	       "      key  min .---. max  | count\n"
	       "       22    0 :xx : 2    | 100\n"
	       "       21    0 :_X : 2    | 100\n"
	       "\n"
	       "     min .------. max      | count\n"
	       "   < -10 :vx x  : >= 10    | 1\n"
	       "\n"
	       "                  key        min .---. max        | count\n"
	       "             pair   1 2147483648 : X : 8589934592 | 1\n"
	       "\n\n"
	       "      key  min .---. max  | count\n"
	       "       22    0 :▃█ : 2    | 100\n"
	       "       21    0 :▃█ : 2    | 100\n");
}

static void test_hist(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *key[] = {t->string};
	dt_agg *a = aggregation(1, DT_ACT_SUM, 0, 1, key);
	dt_agg *b = aggregation(2, DT_ACT_COUNT, 0, 1, key);

	start();
	option("quiet", NULL);
	option("agghist", NULL);
	row(a)[0] = (uint64_t)-10;
	key_string(0, "less");
	row(a)[0] = 30;
	key_string(0, "more");
	row(b)[0] = 1;
	key_string(0, "one");
	row(b)[0] = 6;
	key_string(0, "six");
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	option("aggzoom", NULL);
	printa(b, NULL);
	work();
#define KEYS "              key  ------------- Distribution ------------- count    \n"
	finish("\n\n" KEYS "             less                @@@@@|                     -10      \n"
	       "             more                     |@@@@@@@@@@@@@@@      30       \n"
	       "\n" KEYS "              one |@@@@@@                                   1        \n"
	       "              six |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@       6        \n"
	       "\n\n" KEYS "              one |@@@@@@@                                  1        \n"
	       "              six |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 6        \n");
}

/* ---- printf ---- */

/* Arguments are taken in order, as the compiler would say. */
static dt_format *format(const char *text)
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

static struct fake *print(const char *text)
{
	struct fake *f = record("dtrace", "", "BEGIN");

	stmt(f, DT_ST_PRINTF)->format = format(text);
	return f;
}

static void test_printf_numbers(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	struct fake *f;

	start();
	option("quiet", NULL);
	f = print("[%d %i %u %x %X %o]\n");
	for (int i = 0; i < 6; i++)
		number(f, t->int_, -1);
	f = print("[%d %i %d]\n");
	number(f, t->uint, 0xffffffff);
	number(f, t->uint, 0xffffffff);
	number(f, t->uint64, -1);
	f = print("[%5d|%-5d|%05d|%+d|% d|%#x|%.3d|%8.3d]\n");
	for (int i = 0; i < 8; i++)
		number(f, t->long_, 42);
	f = print("[%*d|%-*d|%.*d]\n");
	number(f, t->int_, 4);
	number(f, t->int_, 7);
	number(f, t->int_, -4);
	number(f, t->int_, 7);
	number(f, t->int_, 3);
	number(f, t->int_, 7);
	f = print("[%?x|%p|%c%C%C]\n");
	number(f, t->uint64, 0xabc);
	number(f, t->void_ptr, 0xffff0);
	number(f, t->char_, 'x');
	number(f, t->char_, '\n');
	number(f, t->char_, 1);
	work();
	finish("[-1 -1 4294967295 ffffffff FFFFFFFF 37777777777]\n"
	       "[4294967295 -1 18446744073709551615]\n"
	       "[   42|42   |00042|+42| 42|0x2a|042|     042]\n"
	       "[   7|7   |007]\n"
	       "[             abc|ffff0|x\\n\\001]\n");
}

static void test_printf_text(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	static const double pi = 3.25;
	static const uint32_t wide[3] = {'h', 0xe9, 0};
	dt_type *dbl = dt_type_lookup_local(types, DT_NS_ORDINARY, "double");
	struct fake *f;

	setenv("TZ", "UTC", 1);
	tzset();
	start();
	option("quiet", NULL);
	f = print("100%% [%s|%8s|%-8s|%.2s|%S]\n");
	for (int i = 0; i < 4; i++)
		string(f, "abc");
	string(f, "a\"\t\001");
	f = print("[%Y|%T]\n");
	number(f, t->int64, 1062609821000000000);
	number(f, t->int64, 1062609821000000000);
	f = print("[%a|%a|%30a|%A]\n");
	number(f, t->uint64, 0x1012);
	number(f, t->uint64, 0x1000);
	number(f, t->uint64, 0x3000);
	number(f, t->uint64, 0x99999);
	f = print("[%f|%8.2e|%g]\n");
	for (int i = 0; i < 3; i++)
		datum(f, DT_ACT_DIFEXPR, difo(dbl, DT_TYPE_CTF, 0, 8), &pi, 8, 8);
	f = print("[%ws|%P|%I]\n");
	bytes(f, dt_type_array(types, t->int_, 3), wide, 12);
	number(f, t->uint16, 1);
	string(f, "not an address");
	f->stmts[0].format->convs[1].letter = 'u'; /* a port has a name on some systems only */
	f = print("nothing %s%d%Y%k\n");	   /* missing arguments */
	work();
	finish("100% [abc|     abc|abc     |ab|a\\\"\\t\\001\\0]\n"
	       "[2003 Sep  3 17:23:41|Wed, 03 Sep 2003 17:23:41 UTC]\n"
	       "[vmlinux`vfs_read+0x12|vmlinux`vfs_read|                vmlinux`0x3000|0x99999]\n"
	       "[3.250000|3.25e+00|3.25]\n"
	       "[h\xc3\xa9|1|not an address]\n"
	       "nothing \n");
}

static void test_printa_format(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *keys[] = {t->string};
	dt_agg *a = aggregation(1, DT_ACT_COUNT, 0, 1, keys);
	dt_agg *b = aggregation(2, DT_ACT_QUANTIZE, 0, 1, keys);
	uint64_t *v;

	start();
	option("quiet", NULL);
	row(a)[0] = 12;
	key_string(0, "k");
	v = row(b);
	quantize(v, 1, 1);
	key_string(0, "k");
	printa(a, b);
	records[nrecords - 1]->stmts[0].format = format("%-4s %@5d %@d%@x\n");
	work();
	finish("k       12 \n" HEAD
	       "               0 |                                         0        \n"
	       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
	       "               2 |                                         0        \n"
	       "\n" HEAD "               0 |                                         0        \n"
	       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
	       "               2 |                                         0        \n"
	       "\n");
}

/* ---- print() ---- */

static void shown(dt_type *t, const void *data, size_t n, const char *want)
{
	dt_buf b = {0};

	dt_text_print(&b, types, t, data, n, &env);
	CHECK_STR(b.s, want);
	dt_buf_free(&b);
}

static void test_print_scalars(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *e = dt_type_enum(types, "D", "color");
	int32_t minus = -1, zero = 0, five = 5;
	uint64_t address = 0x1234;
	static const int32_t three[] = {1, 2, 3};
	char text[8] = "ab";

	env.types = types;
	dt_type_add_enumerator(types, e, "red", 0);
	dt_type_add_enumerator(types, e, "green", 5);
	shown(t->int_, &minus, 4, "int 0xffffffff\n");
	shown(t->int_, &zero, 4, "int 0\n");
	shown(t->char_, "a", 1, "char 'a'\n");
	shown(t->char_, "\004", 1, "char '\\004'\n");
	shown(t->void_ptr, &address, 8, "void * 0x1234\n");
	shown(e, &five, 4, "enum color green\n");
	shown(e, &minus, 4, "enum color -1\n");
	shown(t->string, "he\"y", 5, "string \"he\\\"y\"\n");
	shown(dt_type_array(types, t->int_, 3), three, 12, "int [3] [ 0x1, 0x2, 0x3 ]\n");
	shown(dt_type_array(types, t->int_, 3), three, 8, "int [3] [ 0x1, 0x2, <not recorded> ]\n");
	shown(dt_type_array(types, t->char_, 8), text, 8, "char [8] \"ab\"\n");
}

static void test_print_structures(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *inner = dt_type_sou(types, "D", DT_K_STRUCT, NULL);
	dt_type *item = dt_type_sou(types, "D", DT_K_STRUCT, "item"), *item_t;
	dt_type *pair = dt_type_sou(types, "D", DT_K_STRUCT, "pair");
	dt_type *u = dt_type_sou(types, "D", DT_K_UNION, NULL);
	struct {
		int32_t a;
		void *b;
		struct {
			uint64_t when;
		} c;
		int32_t bits1 : 4, bits2 : 7;
		union {
			int32_t x;
			uint16_t y;
		};
		char d[4], e[3];
		struct {
			int32_t i;
		} f[2];
	} data = {.a = 1,
		  .b = (void *)2,
		  .c = {3},
		  .bits1 = 1,
		  .bits2 = 5,
		  .x = 0x10002,
		  .d = "ab",
		  .e = {4, 0, 0},
		  .f = {{5}, {6}}};

	dt_type_add_member(types, inner, "when", t->uint64, 0);
	dt_type_finish_sou(types, inner);
	dt_type_add_member(types, item, "i", t->int_, 0);
	dt_type_finish_sou(types, item);
	item_t = dt_type_typedef(types, "D", "item_t", item);
	dt_type_add_member(types, u, "x", t->int_, 0);
	dt_type_add_member(types, u, "y", t->uint16, 0);
	dt_type_finish_sou(types, u);
	dt_type_add_member(types, pair, "a", t->int_, 0);
	dt_type_add_member(types, pair, "b", t->void_ptr, 0);
	dt_type_add_member(types, pair, "c", inner, 0);
	dt_type_add_member(types, pair, "bits1", t->int_, 4);
	dt_type_add_member(types, pair, "bits2", t->int_, 7);
	dt_type_add_member(types, pair, "", u, 0);
	dt_type_add_member(types, pair, "d", dt_type_array(types, t->char_, 4), 0);
	dt_type_add_member(types, pair, "e", dt_type_array(types, t->char_, 3), 0);
	dt_type_add_member(types, pair, "f", dt_type_array(types, item_t, 2), 0);
	dt_type_finish_sou(types, pair);
	CHECK(dt_type_size(types, pair) == sizeof(data));
	shown(pair, &data, sizeof(data),
	      "struct pair {\n"
	      "    int a = 0x1\n"
	      "    void *b = 0x2\n"
	      "    struct c = {\n"
	      "        uint64_t when = 0x3\n"
	      "    }\n"
	      "    int bits1 :4 = 0x1\n"
	      "    int bits2 :7 = 0x5\n"
	      "    union  {\n"
	      "        int x = 0x10002\n"
	      "        uint16_t y = 0x2\n"
	      "    }\n"
	      "    char [4] d = [ \"ab\" ]\n"
	      "    char [3] e = [ '\\004', '\\0', '\\0' ]\n"
	      "    item_t [2] f = [ \n"
	      "        item_t {\n"
	      "            int i = 0x5\n"
	      "        }, \n"
	      "        item_t {\n"
	      "            int i = 0x6\n"
	      "        }\n"
	      "    ]\n"
	      "}");
	shown(dt_type_array(types, item_t, 2), data.f, 8,
	      "item_t [2] [ \n"
	      "    item_t {\n"
	      "        int i = 0x5\n"
	      "    }, \n"
	      "    item_t {\n"
	      "        int i = 0x6\n"
	      "    }\n"
	      "]\n");
}

/* ---- losses, faults, options, files ---- */

static void test_losses(void)
{
	uint64_t drops[2] = {0, 1}, agg_drops[2] = {5, 0};
	dt_fault fault = {
	    .epid = 9, .action = 2, .offset = 12, .code = DT_FLT_BADADDR, .value = 16};
	dt_fault divide = {.epid = 9, .action = 0, .offset = -1, .code = DT_FLT_DIVZERO};
	struct fake *f;

	start();
	option("quiet", NULL);
	status = (dt_status){.drops = drops, .agg_drops = agg_drops, .ncpus = 2, .spec_busy = 2};
	work();
	drops[1] = 4;
	option("droptags", NULL);
	status.dbl_errors = 1;
	work();
	status = (dt_status){0};
	f = record("fbt", "f", "entry");
	f->rec.fault = &fault;
	f->probe.mod = "vmlinux";
	f = record("fbt", "f", "entry");
	f->rec.fault = &divide;
	work();
	finish("");
	CHECK_STR(diags, "1 drop on CPU 1\n"
			 "5 aggregation drops on CPU 0\n"
			 "2 failed speculations (available buffers still busy)\n"
			 "[DTRACEDROP_PRINCIPAL] 3 drops on CPU 1\n"
			 "[DTRACEDROP_DBLERROR] 1 error in ERROR probe enabling\n"
			 "error on enabled probe ID 9 (ID 7: fbt:vmlinux:f:entry): invalid address "
			 "(0x10) in action #2 at DIF offset 12\n"
			 "error on enabled probe ID 9 (ID 7: fbt::f:entry): divide-by-zero in "
			 "predicate\n");
}

/* Every kind of loss, one and many, with its tag. */
static void test_every_loss(void)
{
	uint64_t one[1] = {1}, many[1] = {3};

	start();
	status = (dt_status){.drops = one,
			     .agg_drops = one,
			     .ncpus = 1,
			     .dyn_drops = 1,
			     .dyn_rinse_drops = 1,
			     .dyn_dirty_drops = 1,
			     .spec_drops = 1,
			     .spec_busy = 1,
			     .spec_unavail = 1,
			     .stack_overflows = 1,
			     .dbl_errors = 1};
	work();
	CHECK_STR(diags, "1 drop on CPU 0\n"
			 "1 aggregation drop on CPU 0\n"
			 "1 dynamic variable drop\n"
			 "1 dynamic variable drop with non-empty rinsing list\n"
			 "1 dynamic variable drop with non-empty dirty list\n"
			 "1 speculative drop\n"
			 "1 failed speculation (available buffer still busy)\n"
			 "1 failed speculation (no speculative buffer available)\n"
			 "1 jstack()/ustack() string table overflow\n"
			 "1 error in ERROR probe enabling\n");
	diags[0] = 0;
	option("droptags", NULL);
	status = (dt_status){.drops = many,
			     .agg_drops = many,
			     .ncpus = 1,
			     .dyn_drops = 3,
			     .dyn_rinse_drops = 3,
			     .dyn_dirty_drops = 3,
			     .spec_drops = 3,
			     .spec_busy = 3,
			     .spec_unavail = 3,
			     .stack_overflows = 3,
			     .dbl_errors = 3};
	work();
	CHECK_STR(diags,
		  "[DTRACEDROP_PRINCIPAL] 2 drops on CPU 0\n"
		  "[DTRACEDROP_AGGREGATION] 2 aggregation drops on CPU 0\n"
		  "[DTRACEDROP_DYNAMIC] 2 dynamic variable drops\n"
		  "[DTRACEDROP_DYNRINSE] 2 dynamic variable drops with non-empty rinsing list\n"
		  "[DTRACEDROP_DYNDIRTY] 2 dynamic variable drops with non-empty dirty list\n"
		  "[DTRACEDROP_SPEC] 2 speculative drops\n"
		  "[DTRACEDROP_SPECBUSY] 2 failed speculations (available buffers still busy)\n"
		  "[DTRACEDROP_SPECUNAVAIL] 2 failed speculations (no speculative buffer "
		  "available)\n"
		  "[DTRACEDROP_STKSTROVERFLOW] 2 jstack()/ustack() string table overflows\n"
		  "[DTRACEDROP_DBLERROR] 2 errors in ERROR probe enabling\n");
	status = (dt_status){0};
	finish("");
}

/* Every fault: only addresses, alignments and stacks show their value. */
static void test_every_fault(void)
{
	static const struct {
		uint32_t code;
		const char *text;
	} faults[] = {
	    {DT_FLT_UNKNOWN, "unknown fault"},
	    {DT_FLT_BADADDR, "invalid address (0x10)"},
	    {DT_FLT_BADALIGN, "invalid alignment (0x10)"},
	    {DT_FLT_ILLOP, "illegal operation"},
	    {DT_FLT_DIVZERO, "divide-by-zero"},
	    {DT_FLT_NOSCRATCH, "out of scratch space"},
	    {DT_FLT_KPRIV, "invalid kernel access"},
	    {DT_FLT_UPRIV, "invalid user access"},
	    {DT_FLT_TUPOFLOW, "tuple stack overflow"},
	    {DT_FLT_BADSTACK, "bad stack (0x10)"},
	    {DT_FLT_LIBRARY, "library-level fault"},
	    {4711, "unknown fault"},
	};
	dt_probe probe = {.id = 1, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN"};
	dt_ecb ecb = {.epid = 1, .probe = &probe};

	for (size_t i = 0; i < DT_NELEM(faults); i++) {
		dt_fault f = {.epid = 1, .action = 1, .offset = 4, .value = 16};
		char want[160];
		dt_buf b = {0};

		f.code = faults[i].code;
		dt_fault_text(&f, &ecb, &b);
		snprintf(
		    want, sizeof(want),
		    "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): %s in action #1 at DIF "
		    "offset 4",
		    faults[i].text);
		CHECK_STR(b.s, want);
		dt_buf_free(&b);
	}
}

static void test_setopt_and_freopen(void)
{
	char path[] = "/tmp/test_text_XXXXXX", line[32] = "";
	int fd = mkstemp(path);
	struct fake *f;

	start();
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_SETOPT);
	string(f, "quiet");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_FREOPEN)->format = format(path);
	f = print("to the file\n");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_FREOPEN);
	f = print("back\n");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_SYSTEM)->format = format("exit 0");
	work();
	CHECK(read(fd, line, sizeof(line) - 1) == 12);
	CHECK_STR(line, "to the file\n");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_SETOPT);
	string(f, "strsize"); /* not while tracing */
	string(f, "10");
	CHECK(work() == 0); /* a message, and it continues */
	CHECK_STR(diags, "setopt(\"strsize\", \"10\"): Operation illegal when tracing is active\n");
	finish("CPU     ID                    FUNCTION:NAME\n"
	       "  0      7                           :BEGIN \n"
	       "back\n");
	close(fd);
	unlink(path);
}

int main(void)
{
	arena = dt_arena_new();
	types = dt_types_new();
	dt_types_set_btf_path(types, NULL);
	dt_types_set_strsize(types, 256);
	test_records();
	test_quiet_and_exit();
	test_bytes();
	test_stacks();
	test_flow();
	test_default_aggs();
	test_agg_statements();
	test_sorting();
	test_quantize();
	test_lquantize();
	test_zoom_and_utf8();
	test_pack();
	test_hist();
	test_printf_numbers();
	test_printf_text();
	test_printa_format();
	test_print_scalars();
	test_print_structures();
	test_losses();
	test_every_loss();
	test_every_fault();
	test_setopt_and_freopen();
	dt_types_free(types);
	dt_arena_free(arena);
	return unit_done();
}
