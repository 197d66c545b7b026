/*
 * tr_program: a whole program, for one kind of probe and a run of clauses.
 *
 *	main(ctx):
 *		leave if the predicates are seen to be 0 (tr_early.c)
 *		system calls: which probe is it? (tr_event.c)
 *		claim one of the CPU's slots (none free: a drop)
 *		may this probe fire now?  the others: which probe is it?  its prologue, if it has one
 *		for each clause on it: clause(slot, ctx); when it faulted: fault(slot, ctx)
 *		release the slot
 *		at the ret of a user function: carry it out (tr_return.c)
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "bpf/translate/translate.h"

struct prog {
	dt_tr t;
	const struct dt_plan_prog *p;
	uint32_t *clause_fn, *error_fn, *prologue_fn;
	uint32_t *clause_loops, *error_loops; /* beside them, of clauses with loops; 0: none */
	uint32_t fault_fn;
	bool error_exits;
};

/* Some clause may fault. While learning that is not known yet. */
static bool faults(const struct prog *g)
{
	return g->t.learn || g->t.need->reads.faults;
}

/* ERROR's clauses are called by the function for faults. */
static bool is_for_faults(const struct prog *g, uint32_t clause)
{
	return faults(g) && g->t.plan->clauses.v[clause].kinds & 1u << PK_ERROR;
}

/* ---- main ---- */

/*
 * A program that continues the clauses of a firing but was not called by the previous program: if
 * it finds its slot as that one left it, it is still the same firing.
 *
 *	if (!(rest && slot->part == this firing)) { slot->time = 0; slot->toklive = 0; slot->used = 0 }
 */
static void new_firing(struct prog *g)
{
	dt_code *c = g->t.c;
	uint32_t same = dt_code_label(c);

	if (g->p->rest) {
		dt_tr_firing_word(&g->t, R1);
		ld(c, 8, R2, R6, S_PART);
		jmp(c, BPF_JEQ, R1, R2, same);
	}
	if (g->t.need->reads.time || faults(g))
		sti(c, 8, R6, S_TIME, 0);
	if (g->t.need->is.strings)
		sti(c, 8, R6, S_TOKLIVE, 0);
	if (g->t.need->is.memory) {
		sti(c, 8, R6, S_USED, 0);
		sti(c, 8, R6, S_SOURCE, 0);
	}
	if (g->t.need->is.absent)
		sti(c, 4, R6, S_ABSENT, 0);
	dt_code_place(c, same);
}

static void begin_firing(struct prog *g, uint32_t no)
{
	dt_code *c = g->t.c;

	map_value(c, R1, g->t.maps->control, CTL_WORD);
	ld(c, 8, R1, R1, 0);
	if (!dt_kind_is_tracer(g->p->kind)) {
		mov(c, R2, R1);
		alui(c, BPF_AND, R2, CTL_ACTIVE);
		jmpi(c, BPF_JEQ, R2, 0, no);
	}
	alui(c, BPF_AND, R1, CTL_GEN);
	st(c, 4, R6, S_GEN, R1);
	if (!dt_plan_continues(g->t.plan, g->t.prog))
		new_firing(g);
	if (dt_tr_finds_first(&g->t)) {
		dt_tr_found(&g->t);
	} else {
		if (g->t.need->reads.flags)
			sti(c, 4, R6, S_FLAGS, 0);
		dt_tr_find_probe(&g->t, no);
	}
	if (g->p->prologues)
		dt_tr_prologue_call(&g->t, g->prologue_fn, no);
}

/* clause(slot, ctx); goto fine unless it faulted */
static void call_clause(struct prog *g, const struct dt_plan_clause *x, uint32_t func,
			uint32_t loops, uint32_t fine)
{
	dt_code *c = g->t.c;
	uint32_t faulted = dt_code_label(c);

	dt_code_call(c, func);
	jmpi(c, BPF_JEQ, R0, 0, fine);
	if (!loops)
		return;
	jmpi(c, BPF_JNE, R0, CLAUSE_LOOPS, faulted);
	dt_tr_loops_call(&g->t, x, loops);
	jmpi(c, BPF_JEQ, R0, 0, fine);
	dt_code_place(c, faulted);
}

/*
 * The only clause of a program is a part of its main function: that saves a call and, where the clause asks for a stack, a
 * frame that the kernel would walk.
 */
static bool is_inside(const struct prog *g)
{
	return g->p->nclauses == 1 && !g->clause_loops[0] && !dt_plan_is_continued(g->t.plan, g->t.prog) &&
	       !dt_plan_continues(g->t.plan, g->t.prog);
}

/* The clause, with r9 on the stack meanwhile, below what the clause has there. */
static void clause_inside(struct prog *g, uint32_t next)
{
	dt_code *c = g->t.c;
	uint32_t end = dt_code_label(c), save = c->insns.n;
	int at;

	st(c, 8, R10, 0, R9);
	if (dt_tr_keeps_task(&g->t)) {
		ld(c, 8, R1, R10, DT_FOUND_TASK);
		st(c, 8, R10, 0, R1);
	}
	g->t.clause = g->p->clauses[0];
	g->t.inside = true;
	dt_tr_clause(&g->t);
	g->t.inside = false;
	dt_code_leave_to(c, save, end);
	at = -dt_code_stack_depth(c, save) - 8;
	c->insns.v[save].off = (int16_t)at;
	if (dt_tr_keeps_task(&g->t)) {
		c->insns.v[save + 2].off = (int16_t)(at - 8);
		dt_tr_place_task(&g->t, save, at - 8);
	}
	dt_code_place(c, end);
	ld(c, 8, R9, R10, at);
	if (faults(g))
		jmpi(c, BPF_JEQ, R0, 0, next);
}

static void run_clause(struct prog *g, uint32_t i, uint32_t stop)
{
	const struct dt_plan_clause *x = &g->t.plan->clauses.v[g->p->clauses[i]];
	dt_code *c = g->t.c;
	uint32_t next = dt_code_label(c);

	if (dt_tr_prog_at(&g->t)->masks) {
		ld(c, 4, R1, R8,
		   (dt_kind_is_user(g->p->kind) ? (int)sizeof(struct dt_user_row) : 4) +
		       (int)(i / 32) * 4);
		movq(c, R2, 1u << i % 32);
		alu(c, BPF_AND, R1, R2);
		jmpi(c, BPF_JEQ, R1, 0, next);
	}
	if (is_inside(g)) {
		clause_inside(g, next);
	} else {
		mov(c, R1, R6);
		mov(c, R2, R7);
		call_clause(g, x, g->clause_fn[i], g->clause_loops[i], next);
	}
	if (faults(g)) {
		mov(c, R1, R6);
		mov(c, R2, R7);
		dt_code_call(c, g->fault_fn);
	}
	dt_code_place(c, next);
	/* exit() ends the firing it happens in, except END's */
	if ((x->record.exits || g->error_exits) && g->p->kind != PK_END &&
	    (i + 1 < g->p->nclauses || dt_plan_is_continued(g->t.plan, g->t.prog))) {
		map_value(c, R1, g->t.maps->control, CTL_EXITING);
		ld(c, 8, R1, R1, 0);
		jmpi(c, BPF_JNE, R1, 0, stop);
	}
}

/* With tens of thousands of functions, a program runs constantly while the others are being
 * attached: leave at once. Whether the probe may fire is checked again when the slot is claimed. */
static void leave_inactive(struct prog *g, uint32_t out)
{
	dt_code *c = g->t.c;

	map_value(c, R2, g->t.maps->control, CTL_WORD);
	ld(c, 8, R2, R2, 0);
	alui(c, BPF_AND, R2, CTL_ACTIVE);
	jmpi(c, BPF_JEQ, R2, 0, out);
}

static void main_function(struct prog *g)
{
	dt_code *c = g->t.c;
	uint32_t out = dt_code_label(c), done = dt_code_label(c), ended = dt_code_label(c);

	if (dt_kind_is_function(g->p->kind))
		leave_inactive(g, out);
	mov(c, R7, R1);
	g->t.alone = is_inside(g);
	dt_tr_leave_early(&g->t, false, out);
	if (dt_tr_finds_first(&g->t)) {
		dt_tr_find_first(&g->t, out);
		dt_tr_leave_early(&g->t, true, out);
	}
	if (!dt_tr_remembers_task(&g->t))
		dt_tr_cpu(&g->t, out);
	dt_tr_claim(&g->t, out);
	dt_tr_return_begin(&g->t);
	dt_tr_left_keep(&g->t);
	begin_firing(g, done);
	for (uint32_t i = 0; i < g->p->nclauses; i++)
		run_clause(g, i, ended);
	dt_code_place(c, done);
	dt_tr_go_on(&g->t);
	dt_code_place(c, ended);
	dt_tr_return_kept(&g->t);
	dt_tr_release(&g->t);
	dt_tr_return(&g->t, out);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
}

/* ---- faults ---- */

static void fault_record(struct prog *g)
{
	dt_code *c = g->t.c;

	dt_tr_header(&g->t, REC_FAULT);
	dt_slot_lea(c, R1, g->t.at->record);
	ld(c, 4, R2, R6, S_CLAUSE);
	st(c, 4, R1, (int)offsetof(struct dt_fault_rec, head.clause), R2);
	sti(c, 4, R1, (int)offsetof(struct dt_fault_rec, head.spec), 0);
	ld(c, 4, R2, R6, S_FACTION);
	st(c, 4, R1, (int)offsetof(struct dt_fault_rec, action), R2);
	ld(c, 4, R2, R6, S_FOFFSET);
	st(c, 4, R1, (int)offsetof(struct dt_fault_rec, offset), R2);
	ld(c, 4, R2, R6, S_FAULT);
	alui(c, BPF_SUB, R2, 1);
	st(c, 4, R1, (int)offsetof(struct dt_fault_rec, code), R2);
	if (g->t.need->is.absent) {
		ld(c, 4, R2, R6, S_ABSENT);
		st(c, 4, R1, (int)offsetof(struct dt_fault_rec, absent), R2);
		sti(c, 4, R6, S_ABSENT, 0);
	} else {
		sti(c, 4, R1, (int)offsetof(struct dt_fault_rec, absent), 0);
	}
	ld(c, 8, R2, R6, S_FVALUE);
	st(c, 8, R1, (int)offsetof(struct dt_fault_rec, value), R2);
	dt_tr_output(&g->t, sizeof(struct dt_fault_rec));
}

/* ERROR's arguments: -, epid, action, offset, code, value */
static void error_arguments(struct prog *g)
{
	dt_code *c = g->t.c;

	sti(c, 8, R6, S_EARGS, 0);
	dt_tr_epid(&g->t, true);
	st(c, 8, R6, S_EARGS + 8, R0);
	ld(c, 4, R1, R6, S_FACTION);
	st(c, 8, R6, S_EARGS + 16, R1);
	ld(c, 4, R1, R6, S_FOFFSET);
	alui(c, BPF_LSH, R1, 32);
	alui(c, BPF_ARSH, R1, 32);
	st(c, 8, R6, S_EARGS + 24, R1);
	ld(c, 4, R1, R6, S_FAULT);
	alui(c, BPF_SUB, R1, 1);
	st(c, 8, R6, S_EARGS + 32, R1);
	ld(c, 8, R1, R6, S_FVALUE);
	st(c, 8, R6, S_EARGS + 40, R1);
}

/* fault(slot, ctx): a record that says what happened, then the ERROR clauses; a fault in one of
 * those is only counted. */
static void fault_function(struct prog *g)
{
	dt_code *c = g->t.c;
	uint32_t stop = dt_code_label(c);
	bool jumped = false, context = false;

	for (uint32_t i = 0; i < g->t.plan->clauses.n; i++)
		if (g->t.plan->clauses.v[i].kinds & 1u << PK_ERROR &&
		    (!c->funcs.v[g->error_fn[i]].nargs || g->error_loops[i]))
			context = true;
	if (context) {
		dt_code_func_begin(c, g->fault_fn);
		mov(c, R6, R1);
		mov(c, R7, R2);
	} else {
		dt_tr_begin_with_slot(&g->t, g->fault_fn);
	}
	if (g->t.plan->buffers.small) {
		uint32_t full = dt_code_label(c);

		dt_tr_reserve(&g->t, DT_FAULT_COST);
		jmpi(c, BPF_JEQ, R0, 0, full);
		fault_record(g);
		dt_code_place(c, full);
	} else {
		fault_record(g);
	}
	if (g->t.plan->has_error) {
		error_arguments(g);
		ld(c, 4, R8, R6, S_PROBE);
		sti(c, 4, R6, S_PROBE, (int32_t)dt_tr_only_probe(&g->t, PK_ERROR));
		for (uint32_t i = 0; i < g->t.plan->clauses.n; i++) {
			uint32_t fine = dt_code_label(c);

			if (!(g->t.plan->clauses.v[i].kinds & 1u << PK_ERROR))
				continue;
			mov(c, R1, R6);
			if (context)
				mov(c, R2, R7);
			call_clause(g, &g->t.plan->clauses.v[i], g->error_fn[i], g->error_loops[i],
				    fine);
			dt_tr_count(&g->t, CPU_DBL_ERRORS);
			dt_code_place(c, fine);
			if (g->t.plan->clauses.v[i].record.exits && g->p->kind != PK_END) {
				map_value(c, R1, g->t.maps->control, CTL_EXITING);
				ld(c, 8, R1, R1, 0);
				jmpi(c, BPF_JNE, R1, 0, stop);
				jumped = true;
			}
		}
		if (jumped)
			dt_code_place(c, stop);
		st(c, 4, R6, S_PROBE, R8);
	}
	movi(c, R0, 0);
	leave(c);
}

/* ---- putting it together ---- */

/* A clause that does not need the context of the probe is verified on its own. */
static void clause_function(struct prog *g, uint32_t func, uint32_t loops, uint32_t clause,
			    enum dt_probe_kind kind)
{
	dt_code *c = g->t.c;
	uint32_t start;

	g->t.kind = kind;
	g->t.clause = clause;
	start = c->insns.n;
	dt_code_func_begin_global(c, func, 1);
	dt_tr_clause(&g->t);
	dt_tr_verify_alone(c, func, start);
	if (loops)
		dt_tr_loops_function(&g->t, &g->t.plan->clauses.v[clause], loops);
}

static uint32_t declare_loops(struct prog *g, uint32_t clause)
{
	return dt_tr_loops(&g->t, &g->t.plan->clauses.v[clause]) ? dt_code_func_new(g->t.c, "loops") : 0;
}

static void declare(struct prog *g)
{
	size_t nclauses = g->p->nclauses + 1, nerrors = g->t.plan->clauses.n + 1;
	char name[32];

	dt_code_func_begin(g->t.c, dt_code_func_new(g->t.c, "dtrace"));
	g->clause_fn = dt_arena_alloc(g->t.plan->arena, nclauses * sizeof(uint32_t));
	g->clause_loops = dt_arena_alloc(g->t.plan->arena, nclauses * sizeof(uint32_t));
	g->error_fn = dt_arena_alloc(g->t.plan->arena, nerrors * sizeof(uint32_t));
	g->error_loops = dt_arena_alloc(g->t.plan->arena, nerrors * sizeof(uint32_t));
	for (uint32_t i = 0; i < g->p->nclauses; i++) {
		snprintf(name, sizeof(name), "clause_%u", g->p->clauses[i]);
		g->clause_loops[i] = declare_loops(g, g->p->clauses[i]);
		g->clause_fn[i] = is_inside(g) ? 0 : dt_code_func_new(g->t.c, name);
	}
	for (uint32_t i = 0; i < g->t.plan->clauses.n; i++)
		if (is_for_faults(g, i)) {
			g->error_fn[i] = dt_code_func_new(g->t.c, "error");
			g->error_loops[i] = declare_loops(g, i);
			g->error_exits = g->error_exits || g->t.plan->clauses.v[i].record.exits;
		}
	if (faults(g))
		g->fault_fn = dt_code_func_new(g->t.c, "fault");
	if (g->p->prologues)
		g->prologue_fn = dt_tr_prologue_declare(&g->t);
}

static bool serves_compat(const dt_plan *p, const struct dt_plan_prog *prog)
{
	for (uint32_t i = 0; i < p->probes.n; i++)
		if (dt_kind_is_syscall(prog->kind) && dt_plan_serves(p, prog, i) &&
		    p->probes.v[i].event >= DT_SYSCALL_COMPAT)
			return true;
	return false;
}

/* The called functions, after all callers. */
static void add_functions(struct prog *g)
{
	dt_tr *t = &g->t;

	dt_tr_bodies(t);
	dt_tr_functions(t);
	if (g->p->prologues)
		dt_tr_prologue_functions(t, g->prologue_fn);
	dt_tr_unwind_functions(t);
	dt_sub_emit(&t->sub);
	dt_tr_output_function(t);
	dt_tr_tail_functions(t);
	dt_tr_reserve_functions(t);
	dt_tr_absent_function(t);
	dt_tr_packet_functions(t);
	dt_tr_text_stack_functions(t);
	dt_tr_lossless_functions(t);
	dt_tr_memory_functions(t);
	dt_thread_functions(t);
	dt_tr_agg_functions(t);
	dt_tr_claim_functions(t);
	if (t->sub.fns.n) {
		dt_tr_needs(t, strings);
		dt_tr_reads(t, faults);
	}
	if (t->learn && t->sub.nlocals > t->learn->sub_locals)
		t->learn->sub_locals = t->sub.nlocals;
	if (t->sub.uses_scratch) {
		dt_tr_needs(t, scratch);
		dt_tr_reads(t, used);
	}
	if (t->sub.uses_memory)
		dt_tr_needs(t, memory);
}

/* Which functions of D are called, and which repeated. */
struct ways {
	bool repeats, *stays; /* as in dt_tr */
	uint32_t *saves;
	bool again; /* some stay that did not, or need more */
};

static int make_program(const struct dt_tr_input *in, uint32_t i, dt_plan_needs *learn,
			struct dt_rodata *collect, dt_code *c, struct ways *ways, dt_error *err)
{
	const dt_plan *plan = in->plan;
	const struct dt_plan_prog *p = &plan->progs.v[i];
	struct prog g = {.p = p};
	dt_tr *t = &g.t;

	dt_tr_init(t, in, c, err);
	t->learn = learn;
	t->collect = collect;
	t->repeats = ways->repeats;
	t->stays = ways->stays;
	t->saves = ways->saves;
	t->prog = i;
	t->kind = t->prog_kind = p->kind;
	t->nargs = p->group.nargs;
	t->task_arg = p->group.task_arg;
	t->typed = dt_tr_typed_args(plan, t->loads, i);
	t->direct = dt_plan_is_direct(p);
	t->compat = serves_compat(plan, p);
	t->in_slot = p->prologues;
	declare(&g);
	main_function(&g);
	for (uint32_t k = 0; k < p->nclauses && !t->failed && !is_inside(&g); k++)
		clause_function(&g, g.clause_fn[k], g.clause_loops[k], p->clauses[k], p->kind);
	t->kind = p->kind;
	for (uint32_t k = 0; k < plan->clauses.n && !t->failed; k++)
		if (is_for_faults(&g, k))
			clause_function(&g, g.error_fn[k], g.error_loops[k], k, PK_ERROR);
	t->kind = p->kind;
	if (faults(&g)) {
		bool time = learn && learn->reads.time;

		fault_function(&g);
		if (learn) /* new_firing() knows */
			learn->reads.time = time;
	}
	add_functions(&g);
	dt_vec_free(&t->sub.fns);
	dt_vec_free(&t->functions);
	ways->again = !t->failed && dt_tr_bodies_settle(t);
	dt_vec_free(&t->bodies);
	return t->failed ? -1 : 0;
}

/* Made again, until the functions that it calls can be called. */
static int make_settled(const struct dt_tr_input *in, uint32_t i, dt_plan_needs *learn, struct dt_rodata *collect, dt_code *c,
			struct ways *ways, dt_error *err)
{
	int rc;

	do {
		dt_code_free(c);
		*c = (dt_code){0};
		rc = make_program(in, i, learn, collect, c, ways, err);
	} while (rc == 0 && ways->again);
	return rc;
}

/* As it is, and where calls get too deep with fewer functions. */
static int make_shallow(const struct dt_tr_input *in, uint32_t i, dt_plan_needs *learn, struct dt_rodata *collect, dt_code *c,
			struct ways *ways, dt_error *err)
{
	uint32_t nbodies = in->plan->bodies.n;

	if (make_settled(in, i, learn, collect, c, ways, err) != 0)
		return -1;
	if (dt_code_frames(c) > DT_FRAMES_MAX && nbodies) {
		memset(ways->stays, true, nbodies * sizeof(*ways->stays));
		if (make_settled(in, i, learn, collect, c, ways, err) != 0)
			return -1;
	}
	if (dt_code_frames(c) <= DT_FRAMES_MAX)
		return 0;
	ways->repeats = true;
	if (make_settled(in, i, learn, collect, c, ways, err) != 0)
		return -1;
	if (dt_code_frames(c) > DT_FRAMES_MAX)
		return dt_err(err, EDT_DIFINVAL, "subroutines are nested deeper than the kernel's %u calls; an ERROR clause has one less than others",
			      DT_FRAMES_MAX);
	return 0;
}

int dt_tr_program(const struct dt_tr_input *in, uint32_t i, dt_plan_needs *learn,
		  struct dt_rodata *collect, dt_code *c, dt_error *err)
{
	uint32_t nbodies = in->plan->bodies.n;
	struct ways ways = {.stays = nbodies ? dt_xcalloc(nbodies, sizeof(*ways.stays)) : NULL,
			    .saves = nbodies ? dt_xcalloc(nbodies, sizeof(*ways.saves)) : NULL};
	int rc;

	if (nbodies && !in->loads.calls && !learn)
		memset(ways.stays, true, nbodies * sizeof(*ways.stays));
	rc = make_shallow(in, i, learn, collect, c, &ways, err);
	free(ways.stays);
	free(ways.saves);
	if (rc != 0)
		return -1;
	c->memory_keys = in->loads.memory_keys;
	if (dt_code_finish(c) < 0)
		return dt_err(err, EDT_DIFINVAL, "%s", c->problem);
	return 0;
}
