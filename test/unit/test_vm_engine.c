/*
 * The interpreter as an engine: order of clauses, records, faults and ERROR, exit, buffer policies,
 * speculations, aggregations, destructive actions. Clauses are made by hand.
 */
#include <signal.h>
#include <unistd.h>

#include "unit.h"
#include "vm_asm.h"

/* ---- a session by hand ---- */

static const dt_probe probes[] = {
    {.id = 1, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN"},
    {.id = 2, .prov = "dtrace", .mod = "", .func = "", .name = "END"},
    {.id = 3, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR"},
    {.id = 9, .prov = "syscall", .mod = "", .func = "read", .name = "entry"},
};
enum { BEGIN, END, ERROR, OTHER };

static struct {
	dt_ecb ecbs[16];
	dt_clause clauses[16];
	dt_action actions[16][8];
	dt_stmt stmts[16][4];
	dt_difo difos[64];
	struct prog progs[64];
	uint32_t necbs, ndifos;
	dt_options opts;
	dt_engine *e;
	dt_error err;
	dt_buf log; /* the output, as text */
	dt_agg agg, *agg_list[1];
} t;

static void begin_test(void)
{
	memset(&t, 0, sizeof(t));
	dt_options_init(&t.opts);
}

static void end_test(void)
{
	if (t.e)
		dt_engine_vm.close(t.e);
	dt_options_free(&t.opts);
	dt_buf_free(&t.log);
}

/* A new clause on a probe; then its actions. */
static dt_clause *clause(int probe)
{
	uint32_t i = t.necbs++;

	t.clauses[i] = (dt_clause){.actions = t.actions[i], .stmts = t.stmts[i]};
	t.ecbs[i] = (dt_ecb){.epid = i + 1, .probe = &probes[probe], .clause = &t.clauses[i]};
	return &t.clauses[i];
}

/* Take a finished program as a DIFO that lives as long as the test. */
static dt_difo *keep(const struct prog *p, dt_diftype type)
{
	dt_difo *d = &t.difos[t.ndifos];

	t.progs[t.ndifos] = *p;
	*d = difo(&t.progs[t.ndifos++]);
	d->rtype = type;
	return d;
}

static dt_difo *constant(uint64_t v)
{
	struct prog p = new_prog();

	set(&p, 1, v);
	ret(&p, 1);
	return keep(&p, number_type);
}

static dt_difo *builtin(uint32_t id)
{
	struct prog p = new_prog();

	emit(&p, DT_I_IDX(DT_OP_LDGS, id, 1));
	ret(&p, 1);
	return keep(&p, number_type);
}

static dt_difo *string(const char *s, uint32_t size)
{
	struct prog p = new_prog();

	sets(&p, 1, s);
	ret(&p, 1);
	return keep(&p, string_type(size));
}

/* x = x + 1, or its value alone; x is global 0x500. */
static dt_difo *counter(bool add)
{
	struct prog p = new_prog();

	variable(&p, 0x500, DT_SCOPE_GLOBAL, DT_VAR_SCALAR, number_type);
	emit(&p, DT_I_IDX(DT_OP_LDGS, 0x500, 1));
	set(&p, 2, 1);
	if (add) {
		emit(&p, DT_I_FMT(DT_OP_ADD, 1, 2, 1));
		emit(&p, DT_I_IDX(DT_OP_STGS, 0x500, 1));
	}
	ret(&p, 1);
	return keep(&p, number_type);
}

static dt_difo *division_by_zero(void)
{
	struct prog p = new_prog();

	set(&p, 1, 1);
	emit(&p, DT_I_FMT(DT_OP_SDIV, 1, 0, 1));
	ret(&p, 1);
	return keep(&p, number_type);
}

static dt_difo *call0(uint32_t subr)
{
	struct prog p = new_prog();

	emit(&p, DT_I_IDX(DT_OP_CALL, subr, 1));
	ret(&p, 1);
	return keep(&p, number_type);
}

static dt_action *action(dt_clause *c, enum dt_act kind, dt_difo *d, uint32_t size)
{
	dt_action *a = &c->actions[c->nactions++];

	*a = (dt_action){.kind = kind, .difo = d, .size = size, .align = size >= 8 ? 8 : 1};
	return a;
}

static void trace(dt_clause *c, dt_difo *d)
{
	action(c, DT_ACT_DIFEXPR, d, d->rtype.size);
}

/* ---- output: "epid:v,v;" per record, "!epid.action@offset=code;" per fault ---- */

static int on_record(void *arg, const dt_record *r)
{
	const dt_clause *c = r->ecb->clause;
	uint64_t v;

	(void)arg;
	if (r->fault) {
		dt_buf_printf(&t.log, "!%u.%u@%d=%u;", r->fault->epid, r->fault->action,
			      r->fault->offset, r->fault->code);
		return 0;
	}
	dt_buf_printf(&t.log, "%u:", r->ecb->epid);
	for (uint32_t i = 0; i < c->nactions; i++) {
		if (!r->values[i].data)
			continue;
		if (c->actions[i].difo && c->actions[i].difo->rtype.kind == DT_TYPE_STRING) {
			dt_buf_printf(&t.log, "%s/%u,", (const char *)r->values[i].data,
				      r->values[i].size);
			continue;
		}
		v = 0;
		memcpy(&v, r->values[i].data, r->values[i].size < 8 ? r->values[i].size : 8);
		dt_buf_printf(&t.log, "%lld,", (long long)v);
	}
	dt_buf_puts(&t.log, ";");
	return 0;
}

static int on_agg(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys,
		  const uint64_t *value)
{
	(void)arg, (void)cpu;
	dt_buf_printf(&t.log, "@%u[", agg->id);
	for (uint32_t i = 0; i < agg->nkeys; i++)
		dt_buf_printf(&t.log, "%s/%u", (const char *)keys[i].data, keys[i].size);
	dt_buf_puts(&t.log, "]=");
	for (uint32_t i = 0; i < agg->nwords; i++)
		if (value[i])
			dt_buf_printf(&t.log, "%u:%lld ", i, (long long)value[i]);
	dt_buf_puts(&t.log, ";");
	return 0;
}

static const dt_sink sink = {.record = on_record, .agg = on_agg};

static bool open_engine(void)
{
	struct dt_engine_env env = {.opts = &t.opts, .ecbs = t.ecbs, .necbs = t.necbs};

	t.e = dt_engine_vm.open(&env, &t.err);
	return t.e != NULL;
}

static const char *log_text(void)
{
	return t.log.n ? t.log.s : "";
}

/* BEGIN, END, and all output; NULL if the engine could not be opened. */
static const char *session(void)
{
	if (!open_engine() || dt_engine_vm.go(t.e, &t.err) < 0)
		return NULL;
	dt_engine_vm.consume(t.e, &sink);
	dt_engine_vm.stop(t.e, &t.err);
	dt_engine_vm.consume(t.e, &sink);
	dt_engine_vm.snapshot(t.e, &sink, NULL);
	return log_text();
}

static dt_status status(void)
{
	dt_status st;

	dt_engine_vm.status(t.e, &st);
	return st;
}

static uint64_t drops(void)
{
	dt_status st = status();
	uint64_t n = 0;

	for (uint32_t i = 0; i < st.ncpus; i++)
		n += st.drops[i];
	return n;
}

static uint64_t agg_drops(void)
{
	dt_status st = status();
	uint64_t n = 0;

	for (uint32_t i = 0; i < st.ncpus; i++)
		n += st.agg_drops[i];
	return n;
}

/* ---- tests ---- */

static void test_order_and_values(void)
{
	dt_clause *c;

	begin_test();
	clause(BEGIN); /* default action */
	c = clause(END);
	trace(c, builtin(DT_VAR_EPID));
	trace(c, builtin(DT_VAR_ID));
	c = clause(BEGIN);
	action(c, DT_ACT_DIFEXPR, constant(0x1ff), 1); /* cut to the size */
	trace(c, string("hello", 256));
	trace(c, string("0123456789", 4));
	c = clause(BEGIN);
	action(c, DT_ACT_DIFEXPR, counter(true), 0); /* no data, no record */
	c = clause(BEGIN);
	c->pred = constant(0);
	trace(c, constant(5));
	c = clause(OTHER); /* never fires here */
	trace(c, constant(6));
	c = clause(END);
	trace(c, counter(false));
	CHECK_STR(session(), "1:;3:255,hello/6,0123/5,;2:2,2,;7:1,;");
	CHECK(drops() == 0 && !status().exiting);
	CHECK(dt_engine_vm.go(t.e, &t.err) < 0 && t.err.code == EDT_ACTIVE);
	end_test();
}

static void test_exit(void)
{
	dt_clause *c;

	begin_test();
	c = clause(BEGIN);
	action(c, DT_ACT_EXIT, constant(3), 4);
	trace(c, constant(1)); /* the clause itself continues */
	c = clause(BEGIN);
	trace(c, constant(2));
	c = clause(END);
	action(c, DT_ACT_EXIT, constant(4), 4);
	c = clause(END);
	trace(c, constant(5));
	CHECK_STR(session(), "1:3,1,;3:4,;4:5,;");
	CHECK(status().exiting && status().exit_status == 4);
	end_test();
}

static void test_faults(void)
{
	dt_clause *c;

	begin_test();
	c = clause(BEGIN);
	trace(c, constant(1));
	trace(c, division_by_zero());
	c = clause(BEGIN);
	c->pred = division_by_zero();
	c = clause(BEGIN);
	trace(c, string(NULL, 16)); /* NULL has no text to record: outside DIF, no offset */
	c = clause(ERROR);
	for (int i = 0; i < 6; i++)
		trace(c, builtin((uint32_t)(DT_VAR_ARG0 + i)));
	trace(c, builtin(DT_VAR_ID));
	c = clause(ERROR);
	trace(c, division_by_zero()); /* only counted */
	c = clause(BEGIN);
	trace(c, constant(9));
	CHECK_STR(session(), "!1.2@4=4;4:0,1,2,4,4,0,3,;!2.0@4=4;4:0,2,0,4,4,0,3,;"
			     "!3.1@-1=1;4:0,3,1,-1,1,0,3,;6:9,;");
	CHECK(status().dbl_errors == 3);
	end_test();
}

static void test_exit_in_error(void)
{
	dt_clause *c;

	begin_test();
	c = clause(BEGIN);
	trace(c, division_by_zero());
	c = clause(ERROR);
	action(c, DT_ACT_EXIT, constant(1), 4);
	c = clause(BEGIN);
	trace(c, constant(2));
	CHECK_STR(session(), "!1.1@4=4;2:1,;");
	end_test();
}

/* Records cost 16 + data. */
static void test_switch_buffer(void)
{
	begin_test();
	t.opts.value[DT_O_BUFSIZE] = 48;
	for (int i = 0; i < 4; i++)
		trace(clause(BEGIN), constant((uint64_t)i));
	action(clause(BEGIN), DT_ACT_DIFEXPR, counter(true), 0); /* needs no room */
	trace(clause(END), counter(false));
	CHECK_STR(session(), "1:0,;2:1,;6:1,;");
	CHECK(drops() == 2);
	end_test();
}

static void test_fill_buffer(void)
{
	begin_test();
	t.opts.value[DT_O_BUFSIZE] = 72;
	t.opts.value[DT_O_BUFPOLICY] = DT_BUFPOLICY_FILL;
	for (int i = 0; i < 4; i++)
		trace(clause(BEGIN), constant((uint64_t)i));
	trace(clause(END), constant(100)); /* has its room kept */
	CHECK(open_engine() && dt_engine_vm.go(t.e, &t.err) == 0);
	CHECK(status().filled && drops() == 0);
	dt_engine_vm.consume(t.e, &sink);
	CHECK_STR(log_text(), ""); /* not before the end */
	dt_engine_vm.stop(t.e, &t.err);
	dt_engine_vm.consume(t.e, &sink);
	CHECK_STR(log_text(), "1:0,;2:1,;5:100,;");
	end_test();
}

static void test_ring_buffer(void)
{
	begin_test();
	t.opts.value[DT_O_BUFSIZE] = 48;
	t.opts.value[DT_O_BUFPOLICY] = DT_BUFPOLICY_RING;
	for (int i = 0; i < 4; i++)
		trace(clause(BEGIN), constant((uint64_t)i));
	trace(clause(END), constant(100));
	CHECK_STR(session(), "4:3,;5:100,;");
	CHECK(drops() == 0);
	end_test();
}

static void test_sizes(void)
{
	begin_test(); /* larger than the buffer */
	t.opts.value[DT_O_BUFSIZE] = 64;
	trace(clause(BEGIN), string("x", 256));
	trace(clause(BEGIN), constant(1));
	CHECK_STR(session(), "2:1,;");
	CHECK(drops() == 1);
	end_test();

	begin_test(); /* no room for anything */
	t.opts.value[DT_O_BUFSIZE] = 7;
	trace(clause(BEGIN), constant(1));
	CHECK(session() == NULL && t.err.code == EDT_BUFTOOSMALL);
	end_test();

	begin_test(); /* END's records together */
	t.opts.value[DT_O_BUFSIZE] = 64;
	t.opts.value[DT_O_BUFPOLICY] = DT_BUFPOLICY_FILL;
	for (int i = 0; i < 3; i++)
		trace(clause(END), constant(1));
	CHECK(session() == NULL && t.err.code == EDT_ENDTOOBIG);
	end_test();

	begin_test(); /* a small buffer leaves little scratch */
	t.opts.value[DT_O_BUFSIZE] = 96;
	struct prog p = new_prog();
	set(&p, 1, 80);
	emit(&p, DT_I_FMT(DT_OP_ALLOCS, 1, 0, 2));
	ret(&p, 2);
	trace(clause(BEGIN), keep(&p, number_type));
	CHECK_STR(session(), "!1.1@4=5;");
	end_test();
}

/* ---- speculation ---- */

static void speculative(int probe, dt_difo *id, uint64_t value)
{
	dt_clause *c = clause(probe);

	action(c, DT_ACT_SPECULATE, id, 0);
	trace(c, constant(value));
}

static void test_speculation(void)
{
	begin_test();
	trace(clause(BEGIN), call0(DT_SUBR_SPECULATION));	 /* 1: id 1 */
	trace(clause(BEGIN), call0(DT_SUBR_SPECULATION));	 /* 2: none left */
	speculative(BEGIN, constant(1), 10);			 /* 3 */
	speculative(BEGIN, constant(0), 11);			 /* 4: nothing */
	trace(clause(BEGIN), constant(12));			 /* 5 */
	action(clause(BEGIN), DT_ACT_SPECULATE, constant(1), 0); /* 6: the default action */
	speculative(BEGIN, constant(2), 13);			 /* 7: no such id: nothing */
	action(clause(BEGIN), DT_ACT_COMMIT, constant(1), 0);
	action(clause(BEGIN), DT_ACT_COMMIT, constant(1), 0); /* again: nothing */
	trace(clause(BEGIN), call0(DT_SUBR_SPECULATION));     /* 10: free again */
	speculative(BEGIN, constant(1), 14);
	action(clause(BEGIN), DT_ACT_DISCARD, constant(1), 0);
	speculative(BEGIN, constant(1), 15); /* not active: nothing */
	action(clause(BEGIN), DT_ACT_COMMIT, constant(5), 0);
	CHECK_STR(session(), "1:1,;2:0,;5:12,;3:10,;6:;10:1,;!14.1@-1=3;");
	CHECK(status().spec_unavail == 1 && status().spec_drops == 0 && status().spec_busy == 0);
	end_test();
}

static void test_speculation_space(void)
{
	begin_test();
	t.opts.value[DT_O_SPECSIZE] = 48;
	action(clause(BEGIN), DT_ACT_DIFEXPR, call0(DT_SUBR_SPECULATION), 0);
	for (int i = 0; i < 3; i++)
		speculative(BEGIN, constant(1), 10);
	action(clause(BEGIN), DT_ACT_COMMIT, constant(1), 0);
	CHECK_STR(session(), "2:10,;3:10,;");
	CHECK(status().spec_drops == 1);
	end_test();

	begin_test(); /* a commit that does not fit is a drop */
	t.opts.value[DT_O_BUFSIZE] = 40;
	action(clause(BEGIN), DT_ACT_DIFEXPR, call0(DT_SUBR_SPECULATION), 0);
	speculative(BEGIN, constant(1), 10);
	trace(clause(BEGIN), constant(1));
	action(clause(BEGIN), DT_ACT_COMMIT, constant(1), 0);
	CHECK_STR(session(), "3:1,;");
	CHECK(drops() == 1);
	end_test();
}

/* ---- aggregations ---- */

static void aggregate_incr(const char *key, enum dt_act func, dt_difo *value, dt_difo *incr)
{
	dt_clause *c = clause(BEGIN);

	action(c, DT_ACT_DIFEXPR, constant(1), 4);
	if (key)
		action(c, DT_ACT_DIFEXPR, string(key, 64), 64);
	dt_action *a = action(c, func, value, 8);
	a->ntuple = c->nactions - 1;
	a->incr = incr;
	t.agg.id = 1;
	t.agg.func = func;
	t.agg.nkeys = key != NULL;
	t.agg_list[0] = &t.agg;
	c->stmts[0] =
	    (dt_stmt){.kind = DT_ST_AGG, .nactions = c->nactions, .aggs = t.agg_list, .naggs = 1};
	c->nstmts = 1;
}

static void aggregate(const char *key, enum dt_act func, dt_difo *value)
{
	aggregate_incr(key, func, value, NULL);
}

static const char *aggregate_all(enum dt_act func, uint64_t param, uint32_t nwords,
				 const int64_t *values, int n)
{
	static char out[256];

	begin_test();
	t.agg.param = param;
	t.agg.nwords = nwords;
	for (int i = 0; i < n; i++)
		aggregate(NULL, func, func == DT_ACT_COUNT ? NULL : constant((uint64_t)values[i]));
	snprintf(out, sizeof(out), "%s", session());
	end_test();
	return out;
}

static void test_aggregating_functions(void)
{
	static const int64_t v[] = {5, -3, 10};
	const int64_t big[] = {INT64_MIN, INT64_MIN};

	CHECK_STR(aggregate_all(DT_ACT_COUNT, 0, 1, v, 3), "@1[]=0:3 ;");
	CHECK_STR(aggregate_all(DT_ACT_SUM, 0, 1, v, 3), "@1[]=0:12 ;");
	CHECK_STR(aggregate_all(DT_ACT_MIN, 0, 1, v, 3), "@1[]=0:-3 ;");
	CHECK_STR(aggregate_all(DT_ACT_MAX, 0, 1, v, 3), "@1[]=0:10 ;");
	CHECK_STR(aggregate_all(DT_ACT_MAX, 0, 1, v + 1, 1), "@1[]=0:-3 ;");
	CHECK_STR(aggregate_all(DT_ACT_AVG, 0, 2, v, 3), "@1[]=0:3 1:12 ;");
	CHECK_STR(aggregate_all(DT_ACT_STDDEV, 0, 4, v, 3), "@1[]=0:3 1:12 2:134 ;");
	CHECK_STR(aggregate_all(DT_ACT_STDDEV, 0, 4, big, 2), "@1[]=0:2 3:-9223372036854775808 ;");
	CHECK_STR(aggregate_all(DT_ACT_QUANTIZE, 0, 127, v, 3), "@1[]=61:1 66:1 67:1 ;");
	/* base 0, 2 levels of 10: below, 0..9, 10..19, above */
	CHECK_STR(aggregate_all(DT_ACT_LQUANTIZE, (uint64_t)10 << 48 | (uint64_t)2 << 32, 5, v, 3),
		  "@1[]=0:2814758357041152 1:1 2:1 3:1 ;");
}

static void test_aggregation_keys(void)
{
	begin_test();
	t.agg.nwords = 1;
	aggregate("b", DT_ACT_COUNT, NULL);
	aggregate("a", DT_ACT_COUNT, NULL);
	aggregate("b", DT_ACT_COUNT, NULL);
	CHECK_STR(session(), "@1[b/2]=0:2 ;@1[a/2]=0:1 ;");
	dt_buf_reset(&t.log);
	dt_engine_vm.snapshot(t.e, &sink, NULL); /* the last one emptied it */
	CHECK_STR(log_text(), "");
	CHECK(agg_drops() == 0);
	end_test();

	begin_test(); /* 80 bytes a row: one fits into seven eighths of 96 */
	t.opts.value[DT_O_AGGSIZE] = 96;
	t.agg.nwords = 1;
	aggregate("a", DT_ACT_COUNT, NULL);
	aggregate("b", DT_ACT_COUNT, NULL);
	aggregate("a", DT_ACT_COUNT, NULL);
	CHECK_STR(session(), "@1[a/2]=0:2 ;");
	CHECK(agg_drops() == 1);
	end_test();

	begin_test(); /* increments, and a fault in one: it has the action's number */
	t.agg.nwords = 127;
	aggregate_incr(NULL, DT_ACT_QUANTIZE, constant(0), constant(7));
	aggregate_incr(NULL, DT_ACT_QUANTIZE, constant(0), constant((uint64_t)-2));
	aggregate_incr(NULL, DT_ACT_QUANTIZE, constant(0), division_by_zero());
	CHECK_STR(session(), "!3.2@4=4;@1[]=63:5 ;");
	end_test();
}

/* ---- other actions ---- */

static void test_special_data(void)
{
	dt_clause *c;

	begin_test();
	c = clause(BEGIN);
	action(c, DT_ACT_STACK, NULL, 16);
	action(c, DT_ACT_USYM, constant(0x1234), 16);
	action(c, DT_ACT_SYM, constant(0x5678), 8);
	action(c, DT_ACT_TRACEMEM, string("AAAAAAAA", 0), 8)->difo->rtype = number_type;
	action(c, DT_ACT_PRINTF, NULL, 0);
	c = clause(BEGIN);
	action(c, DT_ACT_TRACEMEM, constant(64), 8); /* bad address */
	c = clause(BEGIN);
	action(c, DT_ACT_PRINTF, NULL, 0); /* no data, but the consumer must see it */
	char want[128];
	snprintf(want, sizeof(want), "1:0,%d,22136,4702111234474983745,;!2.1@-1=1;3:;", getpid());
	CHECK_STR(session(), want);
	end_test();
}

static void test_destructive(void)
{
	begin_test();
	action(clause(BEGIN), DT_ACT_RAISE, constant(0), 0);
	CHECK(session() == NULL && t.err.code == EDT_DESTRUCTIVE);
	t.opts.value[DT_O_DESTRUCTIVE] = 1;
	CHECK_STR(session(), "");
	end_test();

	begin_test();
	t.opts.value[DT_O_DESTRUCTIVE] = 1;
	action(clause(BEGIN), DT_ACT_CHILL, constant(1000), 0);
	action(clause(BEGIN), DT_ACT_CHILL, constant(600000000), 0); /* more than is allowed */
	action(clause(BEGIN), DT_ACT_STOP, NULL, 0);
	CHECK_STR(session(), "!2.1@-1=3;");
	end_test();

	begin_test();
	t.opts.value[DT_O_DESTRUCTIVE] = 1;
	action(clause(BEGIN), DT_ACT_PANIC, NULL, 0);
	CHECK(session() == NULL && strstr(t.err.text, "panic()"));
	end_test();
}

int main(void)
{
	test_order_and_values();
	test_exit();
	test_faults();
	test_exit_in_error();
	test_switch_buffer();
	test_fill_buffer();
	test_ring_buffer();
	test_sizes();
	test_speculation();
	test_speculation_space();
	test_aggregating_functions();
	test_aggregation_keys();
	test_special_data();
	test_destructive();
	return unit_done();
}
