/*
 * tr_flow: the blocks of a clause with if, loops or switch.
 *
 * Branches of a clause are branches of its function: they all go forward, so nothing else is needed.
 * Each block that records something writes its part of the record when it ends.
 *
 * A loop must be a call of bpf_loop(). Loops can be nested deeper than functions can call each other
 * (eight), so all loops of a clause are one bpf_loop(), and its blocks are one function:
 *
 *	loops(n, {slot, ctx}):	goto the block slot->at
 *		blocks; where the clause goes back: slot->at = the first block of the loop; return 0
 *		end: slot->at = END; return 1
 *
 * Going back costs a return and a call, as does an iteration of bpf_loop() written by hand. From
 * Linux 6.9 it is a jump instead, which the kernel bounds (may_goto): only when it says that there
 * were too many, the function returns and is called again. Before, a small function goes back by itself a
 * few times, which the kernel verifies one by one. Each loop counts how often it goes back,
 * so the number of calls is bounded.
 *
 * Functions of D are blocks too, at the end of the clauses that call them. They become functions of the program (tr_body.c). Those
 * that cannot stay in the clause: a word of the slot says where to leave to, a call is a jump, and returning is going back to
 * the block after the call, as a round of a loop is.
 *
 * The clause's own function only decides whether the clause runs, and returns CLAUSE_LOOPS; its caller
 * calls bpf_loop(). So a loop takes no more of the eight frames than a plain clause.
 */
#include <stddef.h>
#include <stdlib.h>

#include "bpf/translate/tr_flow.h"

#define MAX_CALLS (1u << 23) /* BPF_MAX_LOOPS */
#define BACK_MAX  16000 /* instructions; a jump reaches twice as far */
/* Without may_goto: the kernel follows each turn when it verifies the program. */
#define TURNS	   16
#define TURNS_SIZE 1500 /* instructions of the function, at most */
#define FEW	   4 /* blocks that are compared one by one */
#define TURNS_AT   (-72) /* on the stack; the code of actions uses what is above */

bool dt_tr_loops(const dt_tr *t, const struct dt_plan_clause *x)
{
	bool *away, found = false;

	if (!dt_record_repeats(&x->record))
		return false;
	away = dt_xcalloc(x->c->nactions + (size_t)1, sizeof(*away));
	dt_bodies_mark(t, x, away);
	for (uint32_t i = 0; i < x->c->nactions && !found; i++)
		found = !away[i] &&
			(x->record.actions[i].effect == DT_EFFECT_AGAIN || x->record.actions[i].effect == DT_EFFECT_RETURN);
	free(away);
	return found;
}

/* ---- parts of the record ---- */

static void begin_part(struct dt_blocks *b, uint32_t part)
{
	const struct dt_plan_part *p = &b->x->parts[part];

	b->part = part;
	if (p->size && p->has_strings)
		sti(b->t->c, 4, R6, S_CURSOR, (int32_t)p->fixed);
}

/* Type, part, and whether it is the first one of this firing. */
static void write_type(dt_tr *t, uint32_t part)
{
	dt_code *c = t->c;

	dt_slot_lea(c, R1, t->at->record);
	ld(c, 4, R2, R6, dt_flow_word(t, FLOW_MORE));
	st(c, 2, R1, (int)offsetof(struct dt_rec, type), R2); /* REC_DATA is 0 */
	if (t->body) {
		ld(c, 4, R2, R6, dt_body_word(t, t->body) + 4);
		alui(c, BPF_ADD, R2, (int32_t)(part - t->body->part));
		st(c, 8, R1, (int)offsetof(struct dt_part_rec, part), R2);
	} else {
		sti(c, 8, R1, (int)offsetof(struct dt_part_rec, part), (int32_t)part);
	}
	sti(c, 4, R6, dt_flow_word(t, FLOW_MORE), REC_MORE);
}

static void end_part(struct dt_blocks *b)
{
	const dt_record_part *what = &b->x->record.parts[b->part];
	const struct dt_plan_part *p = &b->x->parts[b->part];
	dt_tr *t = b->t;
	dt_code *c = t->c;
	uint32_t full = dt_code_label(c);
	bool small = t->plan->buffers.small && !what->speculates;

	if (!p->size)
		return;
	if (!t->plan->buffers.small && what->cost > t->plan->buffers.size) {
		dt_tr_count(t, CPU_DROPS);
		return;
	}
	if (small) {
		dt_tr_reserve(t, what->cost);
		jmpi(c, BPF_JEQ, R0, 0, full);
	}
	if (t->need->is.spec && !what->speculates)
		dt_tr_forget_speculation(t);
	dt_tr_header(t, REC_DATA);
	write_type(t, b->part);
	(what->speculates ? dt_tr_output_speculative
			  : dt_tr_output)(t, p->has_strings ? 0 : p->fixed);
	if (small) {
		sti(c, 4, R6, S_RESERVED, 0); /* the consumer releases it */
		dt_code_place(c, full);
	}
}

/* ---- control ---- */

uint32_t dt_blocks_go_to(struct dt_blocks *b, uint32_t action)
{
	b->entered[action] = true;
	return b->label[action];
}

/*
 *	may_goto out; goto head; out:
 * or, where the kernel does not have that
 *	if (++turns >= TURNS) goto out; goto head; out:
 */
static void go_back_here(struct dt_blocks *b, uint32_t label)
{
	dt_code *c = b->t->c;
	uint32_t out = dt_code_label(c);

	if (!b->t->loads->loops || c->insns.n - c->labels.v[label] > BACK_MAX)
		return;
	if (dt_plan_can(b->t->plan, MAY_GOTO)) {
		dt_code_may_goto(c, out);
	} else if (c->insns.n - b->start < TURNS_SIZE) {
		ld(c, 8, R1, R10, TURNS_AT);
		alui(c, BPF_ADD, R1, 1);
		jmpi(c, BPF_JGE, R1, TURNS, out);
		st(c, 8, R10, TURNS_AT, R1);
	} else {
		return;
	}
	ja(c, label);
	dt_code_place(c, out);
}

/*
 *	if (++*times >= most) goto full; r1 is *times
 */
static void count(struct dt_blocks *b, int times, uint64_t most, uint32_t full)
{
	dt_code *c = b->t->c;

	alui(c, BPF_ADD, R1, 1);
	jmpi(c, BPF_JGE, R1, (int32_t)most, full);
	st(c, 8, R6, times, R1);
	dt_tr_begin_scratch(b->t);
}

/*
 *	return 0: go on at slot->at; from a function: it has returned, for bpf_loop() 1
 * full: a fault of this action
 */
static void leave_or_fault(struct dt_blocks *b, const dt_action *a, uint32_t full)
{
	dt_tr *t = b->t;
	dt_code *c = t->c;

	movi(c, R0, t->body && b->in_callback && dt_act(a->kind)->effect == DT_EFFECT_RETURN);
	leave(c);
	dt_code_place(c, full);
	dt_tr_doing(b->t, (int32_t)(a - b->x->c->actions) + 1);
	t->loff = UINT32_MAX;
	dt_tr_here(t);
	ja(c, dt_tr_fault_label(t, DT_FLT_LOOPMAX));
}

static int rounds(const struct dt_blocks *b, const dt_action *a)
{
	const struct dt_plan_body *body = b->t->body;

	if (body)
		return dt_body_rounds(b->t, dt_control_number(a) - body->loop);
	return dt_flow_word(b->t, FLOW_ROUNDS + dt_control_number(a) * 8);
}

/* goto head, or else slot->at = head; return 0 */
static void go_back(struct dt_blocks *b, const dt_action *a)
{
	dt_code *c = b->t->c;
	uint32_t full = dt_code_label(c), head = dt_control_target(a);

	ld(c, 8, R1, R6, rounds(b, a));
	count(b, rounds(b, a), dt_opt(b->t->plan->opts, DT_O_LOOPMAX), full);
	go_back_here(b, b->label[head]);
	sti(c, 8, R6, dt_flow_word(b->t, FLOW_AT), (int32_t)head);
	leave_or_fault(b, a, full);
}

/* One more round unless the condition is 0; no condition: always. */
static void again(struct dt_blocks *b, const dt_action *a)
{
	uint32_t no = dt_code_label(b->t->c);
	bool ends = a->difo && dt_tr_condition(b->t, a->difo, no);

	if (b->t->reachable)
		go_back(b, a);
	b->t->reachable = ends;
	if (ends)
		dt_code_place(b->t->c, no);
}

/* The word of the slot that says where the function returns to. */
static int after(const struct dt_blocks *b, const dt_action *a)
{
	return dt_flow_word(b->t, FLOW_ROUNDS + (b->x->record.loops + dt_control_number(a)) * 8);
}

/* slot->after = the next action; goto the function */
static void call_function(struct dt_blocks *b, uint32_t i)
{
	const dt_action *a = &b->x->c->actions[i];
	const struct dt_plan_body *body = dt_body_of(b->t, b->x, a);

	if (body) {
		dt_body_call(b, body);
		return;
	}
	if (b->t->body) { /* it cannot be called itself, then */
		b->t->stays[b->t->body - b->t->plan->bodies.v] = true;
		return;
	}
	sti(b->t->c, 8, R6, after(b, a), (int32_t)i + 1);
	ja(b->t->c, dt_blocks_go_to(b, dt_control_target(a)));
	b->t->reachable = false;
}

/* slot->at = slot->after; goto again, or else return 0. The rounds of its loops count as calls; the next call begins anew. */
static void return_from(struct dt_blocks *b, uint32_t i)
{
	const dt_action *actions = b->x->c->actions, *a = &actions[i];
	dt_code *c = b->t->c;
	uint32_t full = dt_code_label(c);

	ld(c, 8, R1, R6, dt_flow_word(b->t, FLOW_CALLS));
	for (uint32_t k = dt_control_target(a); k < i; k++)
		if (b->x->record.actions[k].effect == DT_EFFECT_AGAIN) {
			ld(c, 8, R2, R6, rounds(b, &actions[k]));
			sti(c, 8, R6, rounds(b, &actions[k]), 0);
			alu(c, BPF_ADD, R1, R2);
		}
	count(b, dt_flow_word(b->t, FLOW_CALLS), dt_record_calls(dt_opt(b->t->plan->opts, DT_O_LOOPMAX)), full);
	if (b->t->body) {
		if (b->in_callback)
			sti(c, 8, R6, dt_flow_word(b->t, FLOW_AT), AT_RETURN);
	} else {
		ld(c, 8, R1, R6, after(b, a));
		st(c, 8, R6, dt_flow_word(b->t, FLOW_AT), R1);
		go_back_here(b, b->again);
	}
	leave_or_fault(b, a, full);
	b->t->reachable = false;
}

static void do_control(struct dt_blocks *b, uint32_t i)
{
	const dt_action *a = &b->x->c->actions[i];
	uint32_t to = dt_control_target(a);
	dt_tr *t = b->t;

	if (a->difo && dt_tr_may_fault(t, a->difo))
		dt_tr_doing(t, (int32_t)i + 1);
	switch (b->x->record.actions[i].effect) {
	case DT_EFFECT_BRANCH:
		if (dt_tr_condition(t, a->difo, b->label[to]))
			b->entered[to] = true;
		break;
	case DT_EFFECT_AGAIN: again(b, a); break;
	case DT_EFFECT_CALL: call_function(b, i); break;
	case DT_EFFECT_RETURN: return_from(b, i); break;
	default: /* a jump to what follows would be code that does nothing */
		if (to != i + 1) {
			ja(t->c, dt_blocks_go_to(b, to));
			t->reachable = false;
		}
	}
}

static void do_one(struct dt_blocks *b, uint32_t i, uint32_t end)
{
	const dt_action *a = &b->x->c->actions[i];
	enum dt_effect effect = b->x->record.actions[i].effect;

	if (dt_effect_is_control(effect))
		do_control(b, i);
	else if (effect == DT_EFFECT_SPECULATE && a->arg)
		dt_tr_action(b->t, b->x, i, dt_blocks_go_to(b, dt_control_target(a)));
	else
		dt_tr_action(b->t, b->x, i, end);
}

/* ---- all blocks ---- */

/* The block to which the clause can go back because of action i; nactions: none. */
static uint32_t block_after(const struct dt_blocks *b, uint32_t i)
{
	const dt_clause *c = b->x->c;

	switch (b->x->record.actions[i].effect) {
	case DT_EFFECT_AGAIN: return dt_control_target(&c->actions[i]);
	case DT_EFFECT_CALL: return dt_body_of(b->t, b->x, &c->actions[i]) ? c->nactions : i + 1;
	default: return c->nactions;
	}
}

/* r1 is one of n blocks. */
static void choose(struct dt_blocks *b, const uint32_t *to, uint32_t n)
{
	dt_code *c = b->t->c;
	uint32_t upper = dt_code_label(c);

	if (n <= FEW) {
		for (uint32_t i = 0; i < n; i++)
			jmpi(c, BPF_JEQ, R1, (int32_t)to[i], dt_blocks_go_to(b, to[i]));
		return;
	}
	jmpi(c, BPF_JGE, R1, (int32_t)to[n / 2], upper);
	choose(b, to, n / 2);
	ja(c, b->label[b->from]);
	dt_code_place(c, upper);
	choose(b, to + n / 2, n - n / 2);
}

/* Where the clause can go back to is where the function can begin. */
static void find_start(struct dt_blocks *b)
{
	uint32_t nactions = b->x->c->nactions, n = 0;
	bool *seen = dt_xcalloc(nactions + (size_t)1, sizeof(*seen));
	uint32_t *to = dt_xcalloc(nactions + (size_t)1, sizeof(*to));

	b->again = dt_code_label(b->t->c);
	dt_code_place(b->t->c, b->again);
	ld(b->t->c, 8, R1, R6, dt_flow_word(b->t, FLOW_AT));
	for (uint32_t i = b->from; i < b->to; i++)
		if (!b->away[i])
			seen[block_after(b, i)] = true;
	for (uint32_t i = 1; i < nactions; i++)
		if (seen[i])
			to[n++] = i;
	choose(b, to, n);
	free(seen);
	free(to);
}

void dt_blocks_emit(struct dt_blocks *b, uint32_t end)
{
	dt_tr *t = b->t;
	uint32_t part = t->body ? t->body->part : 0;

	dt_code_place(t->c, b->label[b->from]);
	begin_part(b, part);
	for (uint32_t i = b->from; i < b->to && !t->failed; i++) {
		if (b->away[i]) { /* not reachable from here */
			part += b->leads[i];
			continue;
		}
		if (i > b->from && b->leads[i]) {
			if (t->reachable)
				end_part(b);
			part++;
			if (b->entered[i]) {
				dt_code_place(t->c, b->label[i]);
				t->reachable = true;
			}
			if (t->reachable)
				begin_part(b, part);
		}
		if (t->reachable) /* the kernel refuses unreachable code */
			do_one(b, i, end);
	}
	if (t->reachable)
		end_part(b);
}

void dt_blocks_init(struct dt_blocks *b, dt_tr *t, const struct dt_plan_clause *x, uint32_t end)
{
	uint32_t n = x->c->nactions + 1;

	*b = (struct dt_blocks){.t = t, .x = x};
	b->label = dt_xcalloc(n, sizeof(*b->label));
	b->leads = dt_xcalloc(n, sizeof(*b->leads));
	b->entered = dt_xcalloc(n, sizeof(*b->entered));
	b->away = dt_xcalloc(n, sizeof(*b->away));
	b->from = t->body ? t->body->first : 0;
	b->to = t->body ? t->body->last + 1 : n - 1;
	if (!t->body)
		dt_bodies_mark(t, x, b->away);
	dt_clause_blocks(x->c, b->leads);
	for (uint32_t i = 0; i + 1 < n; i++)
		b->label[i] = b->leads[i] ? dt_code_label(t->c) : UINT32_MAX;
	b->label[n - 1] = end;
}

void dt_blocks_free(struct dt_blocks *b)
{
	free(b->label);
	free(b->leads);
	free(b->entered);
	free(b->away);
}

void dt_tr_blocks(dt_tr *t, const struct dt_plan_clause *x, uint32_t done)
{
	struct dt_blocks b;

	dt_bodies_begin(t, x);
	dt_blocks_init(&b, t, x, done);
	dt_blocks_emit(&b, done);
	dt_blocks_free(&b);
}

/* ---- loops ---- */

/* In the clause's function. */
void dt_tr_loops_begin(dt_tr *t, const struct dt_plan_clause *x)
{
	dt_code *c = t->c;

	sti(c, 8, R6, dt_flow_word(t, FLOW_AT), 0);
	dt_bodies_begin(t, x);
	for (uint32_t i = 0; i < x->record.loops; i++)
		sti(c, 8, R6, dt_flow_word(t, FLOW_ROUNDS + i * 8), 0);
	movi(c, R0, CLAUSE_LOOPS);
	leave(c);
	t->reachable = false;
}

/*
 *	bpf_loop(calls, loops, {slot, ctx}, 0);
 *	r0 = slot->fault; if (r0) goto known
 */
void dt_flow_run(dt_tr *t, uint64_t calls, uint32_t func, uint32_t known)
{
	dt_code *c = t->c;

	st(c, 8, R10, -24, R6);
	st(c, 8, R10, -16, R7);
	movi(c, R1, (int32_t)(calls < MAX_CALLS ? calls : MAX_CALLS));
	dt_code_func_addr(c, R2, func);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, -24);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
	dt_tr_reads(t, faults);
	ld(c, 4, R0, R6, S_FAULT);
	jmpi(c, BPF_JNE, R0, 0, known);
}

/*
 * In its caller: r0 = 1 if it faulted, else 0.
 *	bpf_loop(enough, loops, {slot, ctx}, 0);
 *	if (!slot->fault && slot->at != END) slot->fault = LOOPMAX
 *	r0 = slot->fault
 */
void dt_tr_loops_call(dt_tr *t, const struct dt_plan_clause *x, uint32_t func)
{
	uint64_t loopmax = dt_opt(t->plan->opts, DT_O_LOOPMAX);
	dt_code *c = t->c;
	uint32_t known = dt_code_label(c);

	dt_flow_run(t, x->record.loops * loopmax + (x->record.functions ? dt_record_calls(loopmax) : 0) + 1, func, known);
	ld(c, 8, R1, R6, dt_flow_word(t, FLOW_AT));
	jmpi(c, BPF_JEQ, R1, AT_END, known);
	movi(c, R0, DT_FLT_LOOPMAX + 1);
	st(c, 4, R6, S_FAULT, R0);
	dt_code_place(c, known);
}

/* The blocks, as the callback of bpf_loop(). */
void dt_blocks_callback(dt_tr *t, const struct dt_plan_clause *x, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t end = dt_code_label(c);
	struct dt_blocks b;

	dt_tr_begin_faults(t);
	dt_code_func_begin(c, func); /* the kernel requires callbacks to be static */
	ld(c, 8, R7, R2, 8);
	ld(c, 8, R6, R2, 0);
	if (t->loads->loops && !dt_plan_can(t->plan, MAY_GOTO))
		sti(c, 8, R10, TURNS_AT, 0);
	dt_blocks_init(&b, t, x, end);
	b.in_callback = true;
	b.start = c->insns.n;
	find_start(&b);
	dt_blocks_emit(&b, end);
	if (t->reachable || dt_code_is_target(c, end)) {
		dt_code_place(c, end);
		sti(c, 8, R6, dt_flow_word(t, FLOW_AT), AT_END);
		movi(c, R0, 1);
		leave(c);
	}
	dt_blocks_free(&b);
}

void dt_tr_loops_function(dt_tr *t, const struct dt_plan_clause *x, uint32_t func)
{
	dt_blocks_callback(t, x, func);
	dt_tr_fault_paths(t);
	if (t->faults) {
		dt_code_place(t->c, t->fault_exit);
		movi(t->c, R0, 1);
		leave(t->c);
	}
}
