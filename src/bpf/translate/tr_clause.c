/*
 * tr_clause: a clause and its record.
 *
 * A clause is one function (with loops, two: tr_flow.c): clause(slot, ctx) returns 0 when it is
 * done, 1 when it faulted. The only clause of a program is a part of main (tr_program.c). Values
 * are written directly to the slot's record area; at the end the header is added and the record is
 * copied once into the CPU's buffer (tr_buffer.c). A record that does not fit there is counted as a
 * drop; with the ring policy it replaces the oldest ones (tr_tail.c). Clauses with if or loops
 * write a record for each block that records something (tr_flow.c).
 */
#include <stddef.h>

#include "bpf/translate/translate.h"

/* ---- the record ---- */

void dt_tr_clause_number(dt_tr *t, int to)
{
	if (t->body || t->function) {
		dt_tr_reads(t, faults); /* or else it is not stored */
		ld(t->c, 4, to, R6, S_CLAUSE);
	} else {
		movi(t->c, to, (int32_t)t->clause);
	}
}

/*
 * The time of a record is that of its firing. But records of speculations and the markers of their
 * ends must reach the consumer in the order in which they happened, or the data of successive
 * owners of an id are mixed up: a firing can be preempted between its time stamp and speculation(),
 * and get an id that others used meanwhile. So in a program with speculations records have the
 * current time: all of them, because records that a firing writes after a commit() come after what
 * that commits.
 */
void dt_tr_header(dt_tr *t, uint32_t type)
{
	uint32_t at = t->at->record;
	dt_code *c = t->c;

	if (t->need->is.spec)
		helper(c, BPF_FUNC_ktime_get_ns);
	else
		dt_tr_time(t);
	dt_slot_lea(c, R1, at);
	if (t->body) {
		dt_tr_clause_number(t, R2);
		st(c, 4, R1, (int)offsetof(struct dt_rec, clause), R2);
	} else {
		sti(c, 4, R1, (int)offsetof(struct dt_rec, clause), (int32_t)t->clause);
	}
	ld(c, 4, R2, R6, S_PROBE);
	st(c, 4, R1, (int)offsetof(struct dt_rec, probe), R2);
	st(c, 8, R1, (int)offsetof(struct dt_rec, time), R0);
	if (t->need->is.spec) {
		ld(c, 4, R2, R6, S_SPECSEQ);
		alui(c, BPF_LSH, R2, 16);
		ld(c, 4, R0, R6, S_SPEC);
		alu(c, BPF_OR, R2, R0);
		st(c, 4, R1, (int)offsetof(struct dt_rec, spec), R2);
	} else {
		sti(c, 4, R1, (int)offsetof(struct dt_rec, spec), 0);
	}
	sti(c, 4, R1, (int)offsetof(struct dt_rec, type), (int32_t)type);
}

/* ---- one action ---- */

/* A fault from here on happened in this action. */
void dt_tr_doing(dt_tr *t, int32_t action)
{
	if (t->need->reads.faults)
		sti(t->c, 4, R6, S_FACTION, t->body ? action - (int32_t)t->body->first : action);
}

/* The value in r0 becomes a datum; an effect needs it afterwards. */
static void do_data(dt_tr *t, const dt_action *a, const struct dt_plan_action *p,
		    const dt_tr_val *v, uint32_t done)
{
	bool effective = p->what->effect != DT_EFFECT_NONE;

	if (effective)
		st(t->c, 8, R6, S_INCR, R0);
	if (p->what->is_string)
		dt_tr_append_string(t, a, p);
	else
		dt_tr_datum(t, a, v, t->at->record + p->offset, a->size);
	if (effective)
		ld(t->c, 8, R0, R6, S_INCR);
	dt_tr_effect(t, p->what->effect, done);
}

void dt_tr_action(dt_tr *t, const struct dt_plan_clause *x, uint32_t i, uint32_t done)
{
	const dt_action *a = &x->c->actions[i];
	const struct dt_plan_action *p = &x->plan[i];
	dt_tr_val v = NUMBER;

	if (p->what->role == DT_ROLE_KEY_ID)
		return;
	if (p->what->role == DT_ROLE_KEY && p->agg->keys[p->what->key].name >= 0) {
		dt_tr_agg_key(t, a, p, &v);
		return;
	}
	if (!a->difo || p->what->role != DT_ROLE_EFFECT || p->what->effect != DT_EFFECT_NONE ||
	    dt_tr_may_fault(t, a->difo))
		dt_tr_doing(t, (int32_t)i + 1);
	if (a->difo)
		dt_tr_difo(t, a->difo, &v);
	else
		movi(t->c, R0, 0);
	if (!t->reachable)
		return;
	switch (p->what->role) {
	case DT_ROLE_KEY_ID: break;
	case DT_ROLE_KEY: dt_tr_agg_key(t, a, p, &v); break;
	case DT_ROLE_AGG: dt_tr_aggregate(t, a, p); break;
	case DT_ROLE_DATA: do_data(t, a, p, &v, done); break;
	case DT_ROLE_EFFECT:
		if (p->what->effect == DT_EFFECT_SPECULATE)
			dt_tr_speculate(t, done);
		else
			dt_tr_effect(t, p->what->effect, done);
		break;
	}
}

/*
 * Memory from alloca() or copyin() lasts for the firing: later clauses (and the hidden clauses
 * of an `if`) may have pointers to it, in this-> for example. Strings are copied when they are
 * assigned, so in a program that keeps no pointers each clause has all of scratch.
 */
void dt_tr_begin_scratch(dt_tr *t)
{
	dt_code *c = t->c;

	if (t->need->is.memory || !t->need->reads.used)
		return;	  /* new_firing() has set S_USED */
	if (t->in_slot) { /* after the data of the prologue */
		ld(c, 8, R1, R6, S_PUSED);
		st(c, 8, R6, S_USED, R1);
	} else {
		sti(c, 8, R6, S_USED, 0);
	}
}

/* Option scratchsize: a clause, with all its parts, begins with nothing given. */
static void begin_given(dt_tr *t, uint32_t source)
{
	dt_code *c = t->c;
	uint32_t part = dt_code_label(c);

	if (!t->need->is.memory || !dt_opt_scratch(t->plan->opts))
		return;
	ld(c, 8, R1, R6, S_SOURCE);
	jmpi(c, BPF_JEQ, R1, (int32_t)source + 1, part);
	sti(c, 8, R6, S_SOURCE, (int32_t)source + 1);
	sti(c, 8, R6, S_GIVEN, 0);
	dt_code_place(c, part);
}

/* Space is reserved before the predicate runs: a clause without space does not run at all, unless it
 * ends tracing. */
static void reserve(dt_tr *t, const struct dt_plan_clause *x)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c);

	sti(c, 4, R6, S_RESERVED, 0);
	dt_tr_reserve(t, x->record.cost);
	if (dt_record_ends(&x->record, t->plan->buffers.policy)) {
		dt_code_place(c, ok);
		return;
	}
	jmpi(c, BPF_JNE, R0, 0, ok);
	leave(c);
	dt_code_place(c, ok);
}

/* r0 = 0, and a drop is counted: the ring policy and a record that is larger than the whole buffer. */
static void never_fits(dt_tr *t)
{
	dt_tr_count(t, CPU_DROPS);
	movi(t->c, R0, 0);
}

/* To `done` if the record has no space. */
static void check_space(dt_tr *t, const struct dt_plan_clause *x, uint32_t done)
{
	if (!dt_record_ends(&x->record, t->plan->buffers.policy))
		return;
	ld(t->c, 4, R1, R6, S_RESERVED);
	jmpi(t->c, BPF_JEQ, R1, 0, done);
}

void dt_tr_begin_faults(dt_tr *t)
{
	for (size_t i = 0; i < DT_NELEM(t->fault); i++)
		t->fault[i] = UINT32_MAX;
	t->fault_exit = dt_code_label(t->c);
	t->faults = false;
	t->reachable = true;
}

/* Parts of a record are checked one by one, and small buffers when it runs. */
static bool fits(const dt_tr *t, const struct dt_plan_clause *x)
{
	return t->plan->buffers.small || x->record.has_control || !x->size ||
	       x->record.cost <= t->plan->buffers.size;
}

/* False: the clause never runs. */
static bool begin(dt_tr *t, const struct dt_plan_clause *x, bool small)
{
	const struct dt_plan_part *only = &x->parts[0];
	bool control = x->record.has_control;
	dt_code *c = t->c;

	dt_tr_begin_faults(t);
	if (!t->inside) {
		mov(c, R6, R1);
		mov(c, R7, R2);
	}
	if (t->need->reads.faults) {
		sti(c, 4, R6, S_CLAUSE, (int32_t)t->clause);
		sti(c, 4, R6, S_FAULT, 0);
	}
	if (!fits(t, x)) {
		never_fits(t);
		if (!dt_record_ends(&x->record, t->plan->buffers.policy)) {
			leave(c);
			return false;
		}
	}
	dt_tr_begin_scratch(t);
	begin_given(t, x->c->source);
	if (t->need->is.spec)
		dt_tr_forget_speculation(t);
	if (t->need->is.element)
		sti(c, 4, R6, S_ARRAY, 0);
	if (control)
		sti(c, 4, R6, (int)t->at->flow + FLOW_MORE, 0);
	else if (only->has_strings)
		sti(c, 4, R6, S_CURSOR, (int32_t)only->fixed);
	if (small)
		reserve(t, x);
	return true;
}

/* All actions, and the record. */
static void plain_actions(dt_tr *t, const struct dt_plan_clause *x, uint32_t done, bool small)
{
	const struct dt_plan_part *only = &x->parts[0];

	for (uint32_t i = 0; i < x->c->nactions && t->reachable && !t->failed; i++)
		dt_tr_action(t, x, i, done);
	if (!t->reachable || !x->size || !fits(t, x))
		return;
	if (small)
		check_space(t, x, done);
	if (x->record.speculates || only->has_strings || !dt_tr_output_direct(t, only->fixed)) {
		dt_tr_header(t, REC_DATA);
		(x->record.speculates ? dt_tr_output_speculative
				      : dt_tr_output)(t, only->has_strings ? 0 : only->fixed);
	}
	if (small && !x->record.speculates)
		sti(t->c, 4, R6, S_RESERVED, 0); /* the consumer releases it */
}

/*
 *	if (!predicate) return 0;
 *	actions; output record;
 *	return 0;
 * fault: return 1;
 */
void dt_tr_clause(dt_tr *t)
{
	const struct dt_plan_clause *x = &t->plan->clauses.v[t->clause];
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);
	bool control = x->record.has_control;
	bool small = t->plan->buffers.small && x->size && !control;
	dt_tr_val v;

	t->no_thread = UINT32_MAX;
	t->has_thread = false;
	if (!begin(t, x, small))
		return;
	if (x->c->pred) {
		dt_tr_doing(t, 0);
		if (!dt_tr_loops(t, x) && dt_tr_needs_thread(t, x->c->pred))
			t->no_thread = done;
		dt_tr_difo(t, x->c->pred, &v);
		if (t->reachable)
			jmpi(c, BPF_JEQ, R0, 0, done);
	}
	if (t->reachable)
		dt_tr_shed(t, x, done);
	if (t->reachable && dt_tr_loops(t, x))
		dt_tr_loops_begin(t, x);
	else if (control && t->reachable)
		dt_tr_blocks(t, x, done);
	else
		plain_actions(t, x, done, small);
	if (t->reachable || dt_code_is_target(c, done)) {
		dt_code_place(c, done);
		if (small)
			dt_tr_unreserve(t);
		movi(c, R0, 0);
		leave(c);
	}
	dt_tr_fault_paths(t);
	if (t->faults) {
		dt_code_place(c, t->fault_exit);
		if (small)
			dt_tr_unreserve(t);
		movi(c, R0, 1);
		leave(c);
	}
	t->has_thread = false;
}
