/*
 * The translator of the kernel engine: D or DIF in, eBPF out, as text. No kernel is needed: its
 * features are preset, and maps have fake descriptors.
 *
 * Each case is a piece of code with labels and names, so that it changes only if the code emitted
 * for it does. If that is intended, run with SHOW=1 to see the new code.
 */
#include <stdlib.h>

#include "bpf/code/code_listing.h"
#include "bpf/translate/translate.h"
#include "lang/lang.h"
#include "unit.h"

/* ---- a compiler without kernel and probes ---- */

static int describe(void *arg, dt_compiler *cc, const dt_probedesc *d, bool want_args,
		    struct dt_probe_args *out, dt_error *err)
{
	(void)arg, (void)cc, (void)d, (void)want_args, (void)err;
	out->nprobes = 1;
	return 0;
}

/* ---- one clause on one probe, through all stages up to code ---- */

enum {
	FD_CONTROL = 1000,
	FD_CPUS,
	FD_SLOTS,
	FD_RODATA,
	FD_GLOBALS,
	FD_THREADS,
	FD_AGGS,
	FD_ASIDE,
	FD_WAKE,
	FD_REFUSED,
	FD_VAR,
	FD_SPARE = FD_VAR + 16,
	FD_AGG = FD_SPARE + 16
};

static const struct dt_code_name map_names[] = {
    {FD_CONTROL, "control"}, {FD_CPUS, "cpus"},	      {FD_SLOTS, "slots"},
    {FD_RODATA, "rodata"},   {FD_GLOBALS, "globals"}, {FD_THREADS, "threads"},
    {FD_AGGS, "aggs"},	     {FD_ASIDE, "aside"},     {FD_WAKE, "wake"},
    {FD_VAR, "array"},	     {FD_SPARE, "spare"},     {FD_REFUSED, "refused"},     {FD_AGG, "agg"},
    {0, NULL}};

struct world {
	dt_types *types;
	dt_options opts;
	struct dt_macros macros;
	dt_compiler *cc;
	dt_probe probe;
	dt_ecb ecb;
	dt_events *events;
	dt_plan plan;
	dt_plan_needs needs;
	struct dt_plan_layout at;
	struct dt_rodata ro;
	struct dt_tr_maps maps;
	int vars[16], aggs[4];
	dt_error err;
	dt_code code;
	dt_buf out;
};

static void open_world(struct world *w)
{
	struct dt_probe_source ps = {.describe = describe};

	memset(w, 0, sizeof(*w));
	w->types = dt_types_new();
	dt_types_set_btf_path(w->types, NULL);
	dt_options_init(&w->opts);
	w->cc = dt_compiler_new(w->types, &w->opts, &w->macros, &ps);
	w->probe = (dt_probe){.id = 7, .prov = "sdt", .mod = "", .func = "", .name = "sample"};
	w->events = calloc(1, sizeof(*w->events) + sizeof(dt_event));
	w->events->n = 1;
	w->events->v[0].at = (dt_attach){.kind = DT_AT_TRACEPOINT, .event = "sample"};
	dt_rodata_init(&w->ro);
	dt_tr_maps_init(&w->maps);
	w->maps.control = FD_CONTROL;
	w->maps.cpus = FD_CPUS;
	w->maps.slots = FD_SLOTS;
	w->maps.rodata = FD_RODATA;
	w->maps.globals = FD_GLOBALS;
	w->maps.threads = FD_THREADS;
	w->maps.aggs = FD_AGGS;
	w->maps.aside = FD_ASIDE;
	w->maps.wake = FD_WAKE;
	for (int i = 0; i < 16; i++)
		w->vars[i] = FD_VAR + i;
	for (int i = 0; i < 4; i++)
		w->aggs[i] = FD_AGG + i;
	w->maps.var[DT_SCOPE_GLOBAL] = w->maps.var[DT_SCOPE_THREAD] = w->vars;
	w->maps.spare = FD_SPARE;
	w->maps.refused = FD_REFUSED;
	w->maps.agg = w->aggs;
}

static void close_world(struct world *w)
{
	dt_buf_free(&w->out);
	dt_code_free(&w->code);
	dt_layout_free(&w->at);
	dt_rodata_free(&w->ro);
	if (w->plan.arena)
		dt_plan_free(&w->plan);
	dt_compiler_free(w->cc);
	dt_options_free(&w->opts);
	dt_types_free(w->types);
	free(w->events);
}

static dt_clause *compile(struct world *w, const char *text)
{
	struct dt_source src = {.text = text, .len = strlen(text), .is_cmdline = true};
	dt_program *p = dt_compile(w->cc, &src, &w->err);

	if (!p)
		printf("%s: %s\n", text, w->err.text);
	return p ? &p->clauses[0] : NULL;
}

#define NARGS 3 /* of the tracepoint */

/* plan -> needs -> layout */
static bool prepare(struct world *w, dt_clause *c, bool btf)
{
	struct dt_engine_clause clause = {.clause = c};
	struct dt_engine_env env = {.opts = &w->opts,
				    .types = w->types,
				    .ecbs = &w->ecb,
				    .necbs = 1,
				    .clauses = &clause,
				    .nclauses = 1};

	w->ecb = (dt_ecb){.epid = 1, .probe = &w->probe, .clause = c, .events = w->events};
	if (dt_plan_make(&w->plan, &env, 2, &w->err) < 0)
		return false;
	memset(w->plan.features.answers, DT_ANSWER_NO, DT_FEATURES);
	w->plan.features.answers[DT_FEATURE_BTF] = btf ? DT_ANSWER_YES : DT_ANSWER_NO;
	w->plan.features.answers[DT_FEATURE_STORAGE] = DT_ANSWER_YES;
	w->plan.features.answers[DT_FEATURE_COOKIES] = DT_ANSWER_YES;
	w->plan.probes.v[0].group.nargs = w->plan.progs.v[0].group.nargs = NARGS;
	return dt_learn(&w->plan, &w->needs, &w->ro, &w->err) == 0 &&
	       dt_layout_make(&w->at, &w->plan, &w->needs, &w->ro, &w->err) == 0;
}

/* Names of the parts of the slot that the cases below touch. */
static void list(struct world *w, uint32_t from, uint32_t to)
{
	const struct dt_code_name slot[] = {{S_CPU, "cpu"},
					    {S_PROBE, "probe"},
					    {S_CLAUSE, "clause"},
					    {S_TIME, "time"},
					    {S_GEN, "gen"},
					    {S_FLAGS, "flags"},
					    {S_FAULT, "fault"},
					    {S_FACTION, "faction"},
					    {S_FOFFSET, "foffset"},
					    {S_SPEC, "spec"},
					    {S_FVALUE, "fvalue"},
					    {S_CURSOR, "cursor"},
					    {S_USED, "used"},
					    {S_CMP_A, "cmp_a"},
					    {S_CMP_B, "cmp_b"},
					    {S_VALUE, "value"},
					    {S_INCR, "incr"},
					    {S_SELF, "self"},
					    {S_TMP, "tmp"},
					    {S_REGS, "R0"},
					    {S_REGS + 8, "R1"},
					    {S_REGS + 16, "R2"},
					    {S_REGS + 24, "R3"},
					    {S_REGS + 32, "R4"},
					    {S_TUPLE, "tuple"},
					    {S_EARGS, "eargs"},
					    {S_COMM, "comm"},
					    {S_LOCALS, "locals"},
					    {(int)w->at.local_vars, "vars"}, /* areas may be empty: the last counts */
					    {(int)w->at.key, "key"},
					    {(int)w->at.dkey - 8, "which"},
					    {(int)w->at.dkey, "dkey"},
					    {(int)w->at.record, "record"},
					    {(int)w->at.scratch, "scratch"},
					    {0, NULL}};

	static const struct dt_code_name control[] = {{CTL_WORD, "word"},	 {CTL_EXITING, "exiting"},
						      {CTL_WALL, "wall"}, {CTL_ASIDE, "aside"},
						      {0, NULL}};

	dt_code_list(&w->code, from, to, &(struct dt_code_names){slot, map_names, FD_CONTROL, control}, &w->out);
}

static struct dt_tr_input input(struct world *w, bool trusts)
{
	return (struct dt_tr_input){.plan = &w->plan,
				    .need = &w->needs,
				    .at = &w->at,
				    .maps = &w->maps,
				    .ro = &w->ro,
				    .loads.trusts = trusts};
}

static void expect(struct world *w, const char *what, const char *want)
{
	if (getenv("SHOW"))
		printf("---- %s\n%s", what, w->out.s ? w->out.s : w->err.text);
	CHECK_STR(w->out.s ? w->out.s : w->err.text, want);
}

/* The code of the DIFO of the clause's first action alone, with its fault paths. */
static void check_difo(const char *text, bool trusts, const char *want)
{
	struct world w;
	struct dt_tr_input in;
	uint32_t end;
	dt_tr_val v;
	dt_clause *c;
	dt_tr t;

	open_world(&w);
	c = compile(&w, text);
	if (c && prepare(&w, c, trusts)) {
		in = input(&w, trusts);
		dt_tr_init(&t, &in, &w.code, &w.err);
		t.prog = 0;
		t.kind = t.prog_kind = PK_TRACEPOINT;
		t.nargs = NARGS;
		t.reachable = true;
		for (size_t i = 0; i < DT_NELEM(t.fault); i++)
			t.fault[i] = UINT32_MAX;
		t.fault_exit = dt_code_label(&w.code);
		dt_code_func_begin(&w.code, dt_code_func_new(&w.code, "difo"));
		dt_tr_difo(&t, c->actions[0].difo, &v);
		dt_tr_fault_paths(&t);
		dt_code_place(&w.code, t.fault_exit);
		end = w.code.insns.n;
		leave(&w.code);
		for (uint32_t f = 1; f < w.code.funcs.n; f++) { /* what it calls is not shown */
			dt_code_func_begin(&w.code, f);
			leave(&w.code);
		}
		if (dt_code_finish(&w.code) == 0)
			list(&w, 0, end);
		dt_vec_free(&t.sub.fns);
	}
	expect(&w, text, want);
	close_world(&w);
}

/* A function of the whole program. */
static void check_function(const char *text, const char *name, const char *want)
{
	struct world w;
	struct dt_tr_input in;
	dt_clause *c;

	open_world(&w);
	c = compile(&w, text);
	if (c && prepare(&w, c, false)) {
		in = input(&w, false);
		if (dt_tr_program(&in, 0, NULL, NULL, &w.code, &w.err) == 0)
			for (uint32_t f = 0; f < w.code.funcs.n; f++) {
				uint32_t from = w.code.funcs.v[f].start, to = w.code.insns.n;

				if (strcmp(w.code.funcs.v[f].name, name) != 0)
					continue;
				for (uint32_t k = 0; k < w.code.funcs.n; k++)
					if (w.code.funcs.v[k].start > from &&
					    w.code.funcs.v[k].start < to)
						to = w.code.funcs.v[k].start;
				list(&w, from, to);
			}
	}
	expect(&w, text, want);
	close_world(&w);
}

static void test_arithmetic(void)
{
	check_difo("a { trace(arg0 + 5); }", false,
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tu64 R2 = 5\n"
		   "\tr0 = u64 R1\n"
		   "\tr0 += 5\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n");
	check_difo("a { trace(arg0 > arg1 ? 1 : 2); }", false,
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 [r7+8]\n"
		   "\tu64 R2 = r0\n"
		   "\tr1 = u64 R1\n"
		   "\tr2 = u64 R2\n"
		   "\tif r1 s<= r2 goto L1\n"
		   "\tu64 R1 = 1\n"
		   "\tgoto L2\n"
		   "L1:\n"
		   "\tu64 R1 = 2\n"
		   "L2:\n"
		   "\tr0 = u64 R1\n");
	/* a division by zero faults */
	check_difo("a { trace(arg0 / arg1); }", false,
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 [r7+8]\n"
		   "\tu64 R2 = r0\n"
		   "\tr0 = u64 R1\n"
		   "\tr1 = u64 R2\n"
		   "\tu32 foffset = 8\n"
		   "\tif r1 == 0 goto L4\n"
		   "\tr2 = r0\n"
		   "\tr2 ^= r1\n"
		   "\tif r0 s>= 0 goto L1\n"
		   "\tr0 = -r0\n"
		   "L1:\n"
		   "\tif r1 s>= 0 goto L2\n"
		   "\tr1 = -r1\n"
		   "L2:\n"
		   "\tr0 /= r1\n"
		   "\tif r2 s>= 0 goto L3\n"
		   "\tr0 = -r0\n"
		   "L3:\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "L4:\n"
		   "\tu32 fault = 5\n"
		   "\tu64 fvalue = 0\n"
		   "\tgoto L5\n"
		   "L5:\n");
}

static void test_loads(void)
{
	/* any address: a fault-safe read */
	check_difo("a { trace(*(int *)arg0); }", false,
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tu32 foffset = 4\n"
		   "\tr3 = u64 R1\n"
		   "\tu64 fvalue = r3\n"
		   "\tr1 = slot\n"
		   "\tr1 += tmp\n"
		   "\tr2 = 4\n"
		   "\tcall probe_read_kernel\n"
		   "\tif r0 != 0 goto L1\n"
		   "\tr0 = u32 tmp\n"
		   "\tr0 <<= 32\n"
		   "\tr0 s>>= 32\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "L1:\n"
		   "\tu32 fault = 2\n"
		   "\tgoto L2\n"
		   "L2:\n");
	/* an address that the kernel can prove: a load */
	check_difo("a { trace(*(int *)((uintptr_t)curthread + 64)); }", true,
		   "\tcall get_current_task\n"
		   "\tu64 R1 = r0\n"
		   "\tu64 R2 = 64\n"
		   "\tr0 = u64 R1\n"
		   "\tr0 += 64\n"
		   "\tu64 R1 = r0\n"
		   "\tr3 = u64 R1\n"
		   "\tcall get_current_task_btf\n"
		   "\tr0 = u32 [r0+64]\n"
		   "\tr0 <<= 32\n"
		   "\tr0 s>>= 32\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n");
}

static void test_strings(void)
{
	check_difo("a { trace(execname == \"sh\"); }", false,
		   "\tr1 = u32 flags\n"
		   "\tif r1 & 2 goto L1\n"
		   "\tr1 |= 2\n"
		   "\tu32 flags = r1\n"
		   "\tu64 comm = 0\n"
		   "\tu64 comm+8 = 0\n"
		   "\tr1 = slot\n"
		   "\tr1 += comm\n"
		   "\tr2 = 16\n"
		   "\tcall get_current_comm\n"
		   "L1:\n"
		   "\tr0 = slot\n"
		   "\tr0 += comm\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = &rodata[8]\n"
		   "\tu64 R2 = r0\n"
		   "\tr1 = u64 comm\n"
		   "\tr2 = 26739\n"
		   "\tif r1 != r2 goto L2\n"
		   "\tr0 = 0\n"
		   "\tgoto L3\n"
		   "L2:\n"
		   "\tr0 = 1\n"
		   "L3:\n"
		   "\tr1 = r0\n"
		   "\tr2 = 0\n"
		   "\tif r1 == r2 goto L4\n"
		   "\tr0 = 0\n"
		   "\tu64 R1 = r0\n"
		   "\tgoto L5\n"
		   "L4:\n"
		   "\tu64 R1 = 1\n"
		   "L5:\n"
		   "\tr0 = u64 R1\n");
	/* a subroutine of lib.c */
	check_difo("a { trace(strlen(execname)); }", false,
		   "\tr1 = u32 flags\n"
		   "\tif r1 & 2 goto L1\n"
		   "\tr1 |= 2\n"
		   "\tu32 flags = r1\n"
		   "\tu64 comm = 0\n"
		   "\tu64 comm+8 = 0\n"
		   "\tr1 = slot\n"
		   "\tr1 += comm\n"
		   "\tr2 = 16\n"
		   "\tcall get_current_comm\n"
		   "L1:\n"
		   "\tr0 = slot\n"
		   "\tr0 += comm\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "\tu64 tuple = r0\n"
		   "\tu32 foffset = 12\n"
		   "\tr0 = u64 tuple\n"
		   "\tu64 locals = r0\n"
		   "\tr1 = slot\n"
		   "\tcall strlen()\n"
		   "\tr1 = u32 fault\n"
		   "\tif r1 != 0 goto L2\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "L2:\n");
}

static void test_variables(void)
{
	check_difo("a { x = arg0; }", false,
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tr8 = &globals[0]\n"
		   "\tr1 = u64 R1\n"
		   "\tu64 [r8] = r1\n"
		   "\tr0 = u64 R1\n");
	check_difo("a { this->x = arg0; }", false,
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tr8 = slot\n"
		   "\tr8 += vars\n"
		   "\tr1 = u64 R1\n"
		   "\tu64 [r8] = r1\n"
		   "\tr0 = u64 R1\n");
	/* an object, with its prefix */
	check_difo("a { this->s = execname; }", false,
		   "\tr1 = u32 flags\n"
		   "\tif r1 & 2 goto L1\n"
		   "\tr1 |= 2\n"
		   "\tu32 flags = r1\n"
		   "\tu64 comm = 0\n"
		   "\tu64 comm+8 = 0\n"
		   "\tr1 = slot\n"
		   "\tr1 += comm\n"
		   "\tr2 = 16\n"
		   "\tcall get_current_comm\n"
		   "L1:\n"
		   "\tr0 = slot\n"
		   "\tr0 += comm\n"
		   "\tu64 R1 = r0\n"
		   "\tr8 = slot\n"
		   "\tr8 += vars\n"
		   "\tu32 foffset = 4\n"
		   "\tr3 = u64 R1\n"
		   "\tif r3 == 0 goto L2\n"
		   "\tu64 fvalue = r3\n"
		   "\tr1 = r8\n"
		   "\tr1 += 8\n"
		   "\tr2 = 257\n"
		   "\tcall probe_read_kernel_str\n"
		   "\tif r0 s< 0 goto L4\n"
		   "\tu64 [r8] = 0\n"
		   "\tgoto L3\n"
		   "L2:\n"
		   "\tu64 [r8] = 255\n"
		   "L3:\n"
		   "\tr0 = u64 R1\n"
		   "L4:\n"
		   "\tu32 fault = 2\n"
		   "\tgoto L5\n"
		   "L5:\n");
	check_difo("self int x; a { trace(self->x); }", false,
		   "\tr1 = &control.aside\n"
		   "\tr1 = u64 [r1]\n"
		   "\tif r1 == 0 goto L1\n"
		   "\tcall get_current_task\n"
		   "\tr2 = r0\n"
		   "\tr1 = slot\n"
		   "\tr3 = 0\n"
		   "\tcall aside()\n"
		   "\tif r0 == 0 goto L1\n"
		   "\tr0 -= 1\n"
		   "\tu32 [r10-48] = r0\n"
		   "\tr1 = aside\n"
		   "\tr2 = r10\n"
		   "\tr2 += -48\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 == 0 goto L2\n"
		   "\tr0 += 8\n"
		   "\tgoto L2\n"
		   "L1:\n"
		   "\tcall get_current_task_btf\n"
		   "\tr2 = r0\n"
		   "\tr1 = threads\n"
		   "\tr3 = 0\n"
		   "\tr4 = 0\n"
		   "\tcall task_storage_get\n"
		   "L2:\n"
		   "\tif r0 == 0 goto L3\n"
		   "\tr0 = u64 [r0]\n"
		   "\tgoto L4\n"
		   "L3:\n"
		   "\tr0 = 0\n"
		   "L4:\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n");
	check_difo("a { x[arg0, 1] = arg1; }", false,
		   "\tr0 = u64 [r7+8]\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R2 = r0\n"
		   "\tu64 R3 = 1\n"
		   "\tr0 = u64 R2\n"
		   "\tu64 tuple = r0\n"
		   "\tr0 = 1\n"
		   "\tu64 tuple+8 = r0\n"
		   "\tu32 foffset = 24\n"
		   "\tr3 = u64 tuple\n"
		   "\tu64 dkey = r3\n"
		   "\tr3 = u64 tuple+8\n"
		   "\tu64 dkey+8 = r3\n"
		   "\tr0 = u64 R1\n"
		   "\tif r0 != 0 goto L3\n"
		   "\tr1 = array\n"
		   "\tr2 = slot\n"
		   "\tr2 += dkey\n"
		   "\tcall map_delete_elem\n"
		   "\tif r0 == 0 goto L1\n"
		   "\tif r0 == -2 goto L1\n"
		   "\tr1 = array\n"
		   "\tr2 = slot\n"
		   "\tr2 += dkey\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 == 0 goto L1\n"
		   "\tu64 [r0] = 0\n"
		   "L1:\n"
		   "\tr1 = &control[2200]\n"
		   "\tr1 = u64 [r1]\n"
		   "\tif r1 == 0 goto L8\n"
		   "\tr1 = spare\n"
		   "\tr2 = slot\n"
		   "\tr2 += which\n"
		   "\tu64 [r2] = 1280\n"
		   "\tcall map_delete_elem\n"
		   "\tif r0 == 0 goto L2\n"
		   "\tif r0 == -2 goto L2\n"
		   "\tr1 = spare\n"
		   "\tr2 = slot\n"
		   "\tr2 += which\n"
		   "\tu64 [r2] = 1280\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 == 0 goto L2\n"
		   "\tu64 [r0] = 0\n"
		   "L2:\n"
		   "\tgoto L8\n"
		   "L3:\n"
		   "\tr1 = array\n"
		   "\tr2 = slot\n"
		   "\tr2 += dkey\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 != 0 goto L4\n"
		   "\tr1 = &control[2200]\n"
		   "\tr1 = u64 [r1]\n"
		   "\tif r1 == 0 goto L4\n"
		   "\tr1 = spare\n"
		   "\tr2 = slot\n"
		   "\tr2 += which\n"
		   "\tu64 [r2] = 1280\n"
		   "\tcall map_lookup_elem\n"
		   "L4:\n"
		   "\tif r0 != 0 goto L6\n"
		   "\tr1 = array\n"
		   "\tr2 = slot\n"
		   "\tr2 += dkey\n"
		   "\tr3 = &rodata[16]\n"
		   "\tr4 = 1\n"
		   "\tcall map_update_elem\n"
		   "\tif r0 == -7 goto L5\n"
		   "\tr1 = array\n"
		   "\tr2 = slot\n"
		   "\tr2 += dkey\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 != 0 goto L6\n"
		   "\tr1 = &control[2200]\n"
		   "\tu64 [r1] = 1\n"
		   "\tr1 = spare\n"
		   "\tr2 = slot\n"
		   "\tr2 += which\n"
		   "\tu64 [r2] = 1280\n"
		   "\tr3 = &rodata[16]\n"
		   "\tr4 = 1\n"
		   "\tcall map_update_elem\n"
		   "\tr1 = spare\n"
		   "\tr2 = slot\n"
		   "\tr2 += which\n"
		   "\tu64 [r2] = 1280\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 != 0 goto L6\n"
		   "\tgoto L7\n"
		   "L5:\n"
		   "\tr1 = array\n"
		   "\tr2 = slot\n"
		   "\tr2 += dkey\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 == 0 goto L7\n"
		   "L6:\n"
		   "\tr8 = r0\n"
		   "\tr1 = u64 R1\n"
		   "\tu64 [r8] = r1\n"
		   "\tgoto L8\n"
		   "L7:\n"
		   "\tr1 = slot\n"
		   "\tr2 = 16\n"
		   "\tcall count()\n"
		   "L8:\n"
		   "\tr0 = u64 R1\n");
}

static void test_builtin(void)
{
	check_difo("a { trace(walltimestamp); }", false,
		   "\tr0 = u64 time\n"
		   "\tif r0 != 0 goto L1\n"
		   "\tcall ktime_get_ns\n"
		   "\tu64 time = r0\n"
		   "L1:\n"
		   "\tr1 = &control.wall\n"
		   "\tr1 = u64 [r1]\n"
		   "\tr0 += r1\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n");
}

static void test_clauses(void)
{
	check_function("a { @[arg0] = count(); }", "clause_0",
		   "\tif r1 != 0 goto L1\n"
		   "\tr0 = 0\n"
		   "\texit\n"
		   "L1:\n"
		   "\tr6 = r1\n"
		   "\tr7 = r2\n"
		   "\tu32 clause = 0\n"
		   "\tu32 fault = 0\n"
		   "\tu64 used = 0\n"
		   "\tu32 faction = 2\n"
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "\tu64 key+4 = r0\n"
		   "\tu32 faction = 3\n"
		   "\tr0 = 0\n"
		   "\tr1 = u32 cpu\n"
		   "\tr1 <<= 1\n"
		   "\tr2 = u32 gen\n"
		   "\tr1 |= r2\n"
		   "\tu32 key = r1\n"
		   "\tr1 = agg\n"
		   "\tr2 = slot\n"
		   "\tr2 += key\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 != 0 goto L2\n"
		   "\tr1 = agg\n"
		   "\tr2 = slot\n"
		   "\tr2 += key\n"
		   "\tr3 = &rodata[16]\n"
		   "\tr4 = 1\n"
		   "\tcall map_update_elem\n"
		   "\tu64 fvalue = r0\n"
		   "\tr1 = agg\n"
		   "\tr2 = slot\n"
		   "\tr2 += key\n"
		   "\tcall map_lookup_elem\n"
		   "\tif r0 == 0 goto L3\n"
		   "L2:\n"
		   "\tr8 = r0\n"
		   "\tu64 [r8] = 1\n"
		   "\tr8 += 8\n"
		   "\tr1 = 1\n"
		   "\tu64 [r8] atomic += r1\n"
		   "\tgoto L5\n"
		   "L3:\n"
		   "\tr0 = u64 fvalue\n"
		   "\tif r0 == -7 goto L4\n"
		   "\tr1 = slot\n"
		   "\tr2 = 0\n"
		   "\tcall refused()\n"
		   "\tif r0 == 0 goto L4\n"
		   "\tr0 -= 1\n"
		   "\tu32 [r10-4] = r0\n"
		   "\tr1 = refused\n"
		   "\tr2 = r10\n"
		   "\tr2 += -4\n"
		   "\tr3 = slot\n"
		   "\tr3 += vars\n"
		   "\tr4 = 0\n"
		   "\tcall map_update_elem\n"
		   "\tgoto L5\n"
		   "L4:\n"
		   "\tr1 = slot\n"
		   "\tr2 = 8\n"
		   "\tcall count()\n"
		   "L5:\n"
		   "\tr0 = 0\n"
		   "\texit\n");
	check_function("a /arg0/ { trace(pid); trace(execname); }", "clause_0",
		   "\tif r1 != 0 goto L1\n"
		   "\tr0 = 0\n"
		   "\texit\n"
		   "L1:\n"
		   "\tr6 = r1\n"
		   "\tr7 = r2\n"
		   "\tu32 clause = 0\n"
		   "\tu32 fault = 0\n"
		   "\tu64 used = 0\n"
		   "\tu32 cursor = 32\n"
		   "\tu32 faction = 0\n"
		   "\tr0 = u64 [r7]\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "\tif r0 == 0 goto L4\n"
		   "\tu32 faction = 1\n"
		   "\tcall get_current_pid_tgid\n"
		   "\tr0 >>= 32\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "\tu32 record+24 = r0\n"
		   "\tu32 faction = 2\n"
		   "\tr1 = u32 flags\n"
		   "\tif r1 & 2 goto L2\n"
		   "\tr1 |= 2\n"
		   "\tu32 flags = r1\n"
		   "\tu64 comm = 0\n"
		   "\tu64 comm+8 = 0\n"
		   "\tr1 = slot\n"
		   "\tr1 += comm\n"
		   "\tr2 = 16\n"
		   "\tcall get_current_comm\n"
		   "L2:\n"
		   "\tr0 = slot\n"
		   "\tr0 += comm\n"
		   "\tu64 R1 = r0\n"
		   "\tr0 = u64 R1\n"
		   "\tu32 foffset = -1\n"
		   "\tu64 fvalue = r0\n"
		   "\tr8 = u32 cursor\n"
		   "\tif r8 > 32 goto L6\n"
		   "\tu32 record+28 = r8\n"
		   "\tr1 = r8\n"
		   "\tr1 += slot\n"
		   "\tr1 += record\n"
		   "\tr2 = 16\n"
		   "\tr3 = u64 fvalue\n"
		   "\tcall probe_read_kernel_str\n"
		   "\tif r0 s< 0 goto L5\n"
		   "\tr8 += r0\n"
		   "\tr8 += 7\n"
		   "\tr8 &= -8\n"
		   "\tu32 cursor = r8\n"
		   "\tr0 = u64 time\n"
		   "\tif r0 != 0 goto L3\n"
		   "\tcall ktime_get_ns\n"
		   "\tu64 time = r0\n"
		   "L3:\n"
		   "\tr1 = slot\n"
		   "\tr1 += record\n"
		   "\tu32 [r1] = 0\n"
		   "\tr2 = u32 probe\n"
		   "\tu32 [r1+4] = r2\n"
		   "\tu64 [r1+8] = r0\n"
		   "\tu32 [r1+16] = 0\n"
		   "\tu32 [r1+20] = 0\n"
		   "\tr1 = slot\n"
		   "\tr2 = u32 cursor\n"
		   "\tcall output()\n"
		   "L4:\n"
		   "\tr0 = 0\n"
		   "\texit\n"
		   "L5:\n"
		   "\tu32 fault = 2\n"
		   "\tgoto L7\n"
		   "L6:\n"
		   "\tu32 fault = 6\n"
		   "\tu64 fvalue = 0\n"
		   "\tgoto L7\n"
		   "L7:\n"
		   "\tr0 = 1\n"
		   "\texit\n");
}

int main(void)
{
	test_arithmetic();
	test_loads();
	test_strings();
	test_variables();
	test_builtin();
	test_clauses();
	return unit_done();
}
