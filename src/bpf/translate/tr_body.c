/*
 * tr_body: functions of D with statements, as functions of the program.
 *
 * They are blocks at the end of the clauses that call them (dif/graph.c); plan/bodies.c finds those that are the same. One
 * becomes a function that all clauses call:
 *
 *	function(slot):	its blocks (tr_flow.c); 0: it has returned, 1: a fault, 2: the clause is over
 *
 * around a bpf_loop() of its own if it has loops. Records and faults name parts and actions of the clause: it has left in the slot where
 * its own begin, and its number is there too.
 *
 * Such a function is verified once, however many call it, and so cannot have the context of the probe. Arguments that it needs are in
 * the slot: the clause puts them there before anything else. One that needs the context for something else (stacks, registers),
 * or for which there is no frame, stays in its clauses. That is known when the code has been made; it is made again then.
 */
#include "bpf/translate/tr_flow.h"

int dt_body_word(const dt_tr *t, const struct dt_plan_body *body)
{
	return (int)(t->at->bodies + (uint32_t)(body - t->plan->bodies.v) * 8);
}

int dt_body_rounds(const dt_tr *t, uint32_t loop)
{
	return (int)(t->at->bodies + (t->plan->bodies.n + t->body->rounds + loop) * 8);
}

const struct dt_plan_body *dt_body_of(const dt_tr *t, const struct dt_plan_clause *x, const dt_action *a)
{
	uint32_t body = x->bodies ? x->bodies[dt_control_number(a)] : UINT32_MAX;

	return body != UINT32_MAX && !t->stays[body] ? &t->plan->bodies.v[body] : NULL;
}

void dt_bodies_mark(const dt_tr *t, const struct dt_plan_clause *x, bool *away)
{
	for (uint32_t i = 0; x->record.functions && i < x->c->nactions; i++)
		if (x->record.actions[i].effect == DT_EFFECT_RETURN && dt_body_of(t, x, &x->c->actions[i]))
			for (uint32_t k = dt_control_target(&x->c->actions[i]); k <= i; k++)
				away[k] = true;
}

/* Where this clause has the functions that it calls, and that it has called none yet. */
void dt_bodies_begin(dt_tr *t, const struct dt_plan_clause *x)
{
	uint32_t saves = 0;
	dt_code *c = t->c;

	if (x->record.functions)
		sti(c, 8, R6, dt_flow_word(t, FLOW_CALLS), 0);
	for (uint32_t i = 0; x->record.functions && i < x->c->nactions; i++) {
		const dt_action *a = &x->c->actions[i];
		const struct dt_plan_body *body = x->record.actions[i].effect == DT_EFFECT_RETURN ? dt_body_of(t, x, a) : NULL;

		if (!body)
			continue;
		sti(c, 4, R6, dt_body_word(t, body), (int32_t)dt_control_target(a));
		sti(c, 4, R6, dt_body_word(t, body) + 4, (int32_t)dt_record_part_at(&x->record, dt_control_target(a)));
		saves |= t->saves[body - t->plan->bodies.v];
	}
	if (t->kind != PK_ERROR)
		dt_tr_save_args(t, saves);
}

/* ---- calls ---- */

static uint32_t request(dt_tr *t, const struct dt_plan_body *body)
{
	uint32_t index = (uint32_t)(body - t->plan->bodies.v);
	struct dt_tr_body *f;

	for (uint32_t i = 0; i < t->bodies.n; i++)
		if (t->bodies.v[i].body == index && t->bodies.v[i].kind == t->kind)
			return t->bodies.v[i].func;
	f = dt_vec_add(&t->bodies, NULL);
	*f = (struct dt_tr_body){.body = index, .kind = t->kind, .func = dt_code_func_new(t->c, "function")};
	return f->func;
}

/* r0 = function(slot); unless it has returned: leave the clause, or the function */
void dt_body_call(struct dt_blocks *b, const struct dt_plan_body *body)
{
	dt_tr *t = b->t;
	dt_code *c = t->c;
	uint32_t back = dt_code_label(c);

	dt_tr_reads(t, faults);
	mov(c, R1, R6);
	dt_code_call(c, request(t, body));
	jmpi(c, BPF_JEQ, R0, BODY_RETURNED, back);
	if (t->body && !b->in_callback) {
		leave(c);
	} else {
		jmpi(c, BPF_JEQ, R0, BODY_OVER, dt_blocks_go_to(b, b->x->c->nactions));
		movi(c, R0, 1);
		if (t->body) {
			leave(c);
		} else {
			ja(c, t->fault_exit);
			dt_tr_can_fault(t);
		}
	}
	dt_code_place(c, back);
}

/* ---- the functions ---- */

/* slot->faction counts from the function's first action: now it does from that of the clause; return 1 */
static void leave_faulted(dt_tr *t)
{
	dt_code *c = t->c;

	ld(c, 4, R1, R6, dt_body_word(t, t->body));
	ld(c, 4, R2, R6, S_FACTION);
	alu(c, BPF_ADD, R2, R1);
	st(c, 4, R6, S_FACTION, R2);
	movi(c, R0, BODY_FAULTED);
	leave(c);
}

static void fault_exit(dt_tr *t)
{
	dt_tr_fault_paths(t);
	if (!t->faults)
		return;
	dt_code_place(t->c, t->fault_exit);
	leave_faulted(t);
}

static void plain_body(dt_tr *t, const struct dt_plan_clause *x)
{
	dt_code *c = t->c;
	uint32_t over = dt_code_label(c);
	struct dt_blocks b;

	dt_tr_begin_faults(t);
	dt_blocks_init(&b, t, x, over);
	dt_blocks_emit(&b, over);
	if (dt_code_is_target(c, over)) {
		dt_code_place(c, over);
		movi(c, R0, BODY_OVER);
		leave(c);
	}
	dt_blocks_free(&b);
	fault_exit(t);
}

static void body_with_loops(dt_tr *t, const struct dt_plan_clause *x)
{
	dt_code *c = t->c;
	uint32_t loops = dt_code_func_new(c, "loops"), returned = dt_code_label(c), over = dt_code_label(c),
		 faulted = dt_code_label(c);

	sti(c, 8, R6, dt_flow_word(t, FLOW_AT), 0);
	for (uint32_t i = 0; i < t->body->nloops; i++)
		sti(c, 8, R6, dt_body_rounds(t, i), 0);
	dt_flow_run(t, t->body->nloops * dt_opt(t->plan->opts, DT_O_LOOPMAX) + 1, loops, faulted);
	ld(c, 8, R1, R6, dt_flow_word(t, FLOW_AT));
	jmpi(c, BPF_JEQ, R1, AT_RETURN, returned);
	jmpi(c, BPF_JEQ, R1, AT_END, over);
	sti(c, 4, R6, S_FAULT, DT_FLT_LOOPMAX + 1);
	leave_faulted(t);
	dt_code_place(c, faulted);
	movi(c, R0, BODY_FAULTED);
	leave(c);
	dt_code_place(c, over);
	movi(c, R0, BODY_OVER);
	leave(c);
	dt_code_place(c, returned);
	movi(c, R0, BODY_RETURNED);
	leave(c);
	dt_blocks_callback(t, x, loops);
	fault_exit(t);
}

static void emit_body(dt_tr *t, uint32_t i)
{
	struct dt_tr_body f = t->bodies.v[i];
	dt_code *c = t->c;

	t->body = &t->plan->bodies.v[f.body];
	t->clause = t->body->clause;
	t->kind = f.kind;
	f.start = c->insns.n;
	f.saves = t->saves[f.body];
	if (t->loads->memory_keys) {
		dt_code_func_begin_global(c, f.func, 1);
		mov(c, R6, R1);
		mov(c, R7, R2);
	} else {
		dt_tr_begin_with_slot(t, f.func);
		mov(c, R7, R2);
	}
	if (t->body->nloops)
		body_with_loops(t, &t->plan->clauses.v[t->clause]);
	else
		plain_body(t, &t->plan->clauses.v[t->clause]);
	f.end = c->insns.n;
	t->bodies.v[i] = f;
}

void dt_tr_bodies(dt_tr *t)
{
	enum dt_probe_kind kind = t->kind;

	t->no_thread = UINT32_MAX;
	t->has_thread = false;
	for (uint32_t i = 0; i < t->bodies.n && !t->failed; i++)
		emit_body(t, i);
	t->body = NULL;
	t->kind = kind;
}

/* Does this instruction give the context to a function that has no use for it? */
static bool passes_on(const dt_code *c, uint32_t insn)
{
	const struct bpf_insn *x = &c->insns.v[insn];

	if (x->code != (BPF_ALU64 | BPF_MOV | BPF_X) || x->dst_reg != R2)
		return false;
	for (uint32_t i = 0; i < c->fixes.n; i++)
		if (c->fixes.v[i].is_call && c->fixes.v[i].insn == insn + 1)
			return c->funcs.v[c->fixes.v[i].target].nargs != 0;
	return false;
}

/* Does the function need the context? Where it only takes, keeps or passes it on, it has 0 from now on. */
static bool needs_context(dt_code *c, const struct dt_tr_body *f)
{
	for (uint32_t i = f->start; i < f->end; i++) {
		struct bpf_insn *x = &c->insns.v[i];
		bool keeps = (x->code == (BPF_STX | BPF_MEM | BPF_DW) && x->dst_reg == R10 && x->off == -16) ||
			     (x->code == (BPF_LDX | BPF_MEM | BPF_DW) && x->dst_reg == R7);

		if (x->dst_reg == R7 && x->src_reg == R2 && !keeps)
			*x = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = R7};
		else if (x->src_reg == R7 && passes_on(c, i))
			*x = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = R2};
		else if ((x->dst_reg == R7 || x->src_reg == R7) && !keeps && x->code != (BPF_ALU64 | BPF_MOV | BPF_K))
			return true;
	}
	return false;
}

bool dt_tr_bodies_settle(dt_tr *t)
{
	bool again = false;

	for (uint32_t i = 0; i < t->bodies.n; i++) {
		const struct dt_tr_body *f = &t->bodies.v[i];

		if (!t->stays[f->body] && needs_context(t->c, f))
			t->stays[f->body] = true;
		again = again || t->stays[f->body] || t->saves[f->body] != f->saves;
		t->c->shared += f->end - f->start;
	}
	return again;
}
