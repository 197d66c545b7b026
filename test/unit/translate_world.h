/*
 * translate_world: one clause on one probe, through all stages of the kernel engine up to code. No
 * kernel is needed: its features are preset, and maps have fake descriptors.
 *
 * Each case is a piece of code with labels and names, so that it changes only if the code emitted
 * for it does. If that is intended, run with SHOW=1 to see the new code.
 */
#ifndef DT_TRANSLATE_WORLD_H
#define DT_TRANSLATE_WORLD_H

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
    {FD_REFUSED, "refused"}, {FD_VAR, "array"},	      {FD_SPARE, "spare"},
    {FD_AGG, "agg"},	     {0, NULL}};

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

static bool at_call; /* worlds are of the system call number 110, not of a tracepoint */

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
	w->events->v[0].at = at_call ? (dt_attach){.kind = DT_AT_SYSCALL_ENTRY, .number = 110}
				     : (dt_attach){.kind = DT_AT_TRACEPOINT, .event = "sample"};
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
	w->maps.refused = FD_REFUSED;
	for (int i = 0; i < 16; i++)
		w->vars[i] = FD_VAR + i;
	for (int i = 0; i < 4; i++)
		w->aggs[i] = FD_AGG + i;
	w->maps.var[DT_SCOPE_GLOBAL] = w->maps.var[DT_SCOPE_THREAD] = w->vars;
	w->maps.spare = FD_SPARE;
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
	if (!at_call)
		w->plan.probes.v[0].group.nargs = w->plan.progs.v[0].group.nargs = NARGS;
	return dt_learn(&w->plan, &w->needs, &w->ro, &w->err) == 0 &&
	       dt_layout_make(&w->at, &w->plan, &w->needs, &w->ro, &w->err) == 0;
}

/* Names of the parts of the slot that the cases below touch. */
static void list(struct world *w, uint32_t from, uint32_t to)
{
	const struct dt_code_name slot[] = {{S_CPU, "cpu"},
					   {S_INDEX, "index"},
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
					    {(int)w->at.sub_locals, "locals"},
					    {(int)w->at.local_vars, "vars"}, /* areas may be empty: the last counts */
					    {(int)w->at.key - REFUSED_KEY, "refused"},
					    {(int)w->at.key, "key"},
					    {(int)w->at.dkey - 8, "which"},
					    {(int)w->at.dkey, "dkey"},
					    {(int)w->at.record, "record"},
					    {(int)w->at.scratch, "scratch"},
					    {0, NULL}};

	static const struct dt_code_name control[] = {{CTL_WORD, "word"},	 {CTL_EXITING, "exiting"},
						      {CTL_WALL, "wall"}, {CTL_ASIDE, "aside"}, {CTL_SPARED, "spared"},
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
static inline void check_difo(const char *text, bool trusts, const char *want)
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

/* Compile the text and translate it as a whole program, into w->code. */
static bool translated(struct world *w, const char *text, bool btf)
{
	struct dt_tr_input in;
	dt_clause *c;

	open_world(w);
	c = compile(w, text);
	if (!c || !prepare(w, c, btf))
		return false;
	in = input(w, btf);
	return dt_tr_program(&in, 0, NULL, NULL, &w->code, &w->err) == 0;
}

/* A function of the whole program. */
static inline void check_function(const char *text, const char *name, const char *want)
{
	struct world w;

	if (translated(&w, text, at_call))
		for (uint32_t f = 0; f < w.code.funcs.n; f++) {
			uint32_t from = w.code.funcs.v[f].start, to = w.code.insns.n;

			if (strcmp(w.code.funcs.v[f].name, name) != 0)
				continue;
			for (uint32_t k = 0; k < w.code.funcs.n; k++)
				if (w.code.funcs.v[k].start > from && w.code.funcs.v[k].start < to)
					to = w.code.funcs.v[k].start;
			list(&w, from, to);
		}
	expect(&w, text, want);
	close_world(&w);
}

/* The only clause of a program, which is a part of its main function: from where r9 is saved to where it is loaded again. */
static inline void check_clause(const char *text, const char *want)
{
	struct world w;
	uint32_t from = 1, to;

	if (translated(&w, text, at_call)) {
		const struct bpf_insn *v = w.code.insns.v;

		while (from < w.code.insns.n && (v[from - 1].dst_reg != R10 || v[from - 1].src_reg != R9))
			from++;
		for (to = from; to < w.code.insns.n && v[to].dst_reg != R9;)
			to++;
		list(&w, from, to);
	}
	expect(&w, text, want);
	close_world(&w);
}

/* The first instructions of a program, up to where it claims a slot. */
static inline void check_start(const char *text, const char *want)
{
	struct world w;
	uint32_t to = 0;

	if (translated(&w, text, at_call)) {
		const struct bpf_insn *v = w.code.insns.v;

		while (to < w.code.insns.n && (v[to].code != (BPF_JMP | BPF_CALL) || v[to].imm != BPF_FUNC_get_smp_processor_id))
			to++;
		list(&w, 0, to);
	}
	expect(&w, text, want);
	close_world(&w);
}

/* How often a program calls a helper */
static inline uint32_t count_calls(const char *text, int helper)
{
	uint32_t n = 0;
	struct world w;

	if (translated(&w, text, at_call))
		for (uint32_t i = 0; i < w.code.insns.n; i++)
			n += w.code.insns.v[i].code == (BPF_JMP | BPF_CALL) && !w.code.insns.v[i].src_reg && w.code.insns.v[i].imm == helper;
	close_world(&w);
	return n;
}

#endif
