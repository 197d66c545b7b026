/*
 * bodies: functions of D that clauses have as blocks at their end (dif/graph.c): which are the same.
 *
 * A function that several clauses call is in each of them, with the same DIFOs if its code is the same (in a file: the same
 * sections). Here each gets one body, which becomes one function of a program, called by all of them (translate/tr_body.c).
 * (Its statements may differ: their formats are for the consumer.) What differs is where it is in a clause: its first action, by which faults count, and its first part of the record. Two
 * words of the slot say that, and its loops count their rounds in words of their own.
 */
#include <stdio.h>

#include "bpf/plan/plan.h"

#define BODIES_MAX 256 /* their words are near the start of the slot */
#define LOOPS_MAX  512
#define ALIKE_MAX  16 /* that begin the same way and are compared */

struct finder {
	dt_plan *plan;
	dt_map *known; /* how it begins -> index of the last such body, plus 1 */
};

static bool same_target(const struct dt_plan_clause *x, const struct dt_plan_body *a, const struct dt_plan_clause *y,
			const struct dt_plan_body *b, uint32_t i)
{
	uint32_t to = dt_control_target(&x->c->actions[a->first + i]), other = dt_control_target(&y->c->actions[b->first + i]);

	if (to == x->c->nactions || other == y->c->nactions)
		return to == x->c->nactions && other == y->c->nactions;
	return to - a->first == other - b->first;
}

static bool same_argument(const struct dt_plan_clause *x, const struct dt_plan_body *a, const struct dt_plan_clause *y,
			  const struct dt_plan_body *b, uint32_t i)
{
	const dt_action *p = &x->c->actions[a->first + i], *q = &y->c->actions[b->first + i];

	switch (dt_act(p->kind)->effect) {
	case DT_EFFECT_BRANCH:
	case DT_EFFECT_JUMP: return same_target(x, a, y, b, i);
	case DT_EFFECT_AGAIN:
		return same_target(x, a, y, b, i) && dt_control_number(p) - a->loop == dt_control_number(q) - b->loop;
	case DT_EFFECT_CALL: return x->bodies[dt_control_number(p)] == y->bodies[dt_control_number(q)];
	case DT_EFFECT_RETURN: return true;
	default: return p->arg == q->arg;
	}
}

static bool same_action(const struct dt_plan_clause *x, const struct dt_plan_body *a, const struct dt_plan_clause *y,
			const struct dt_plan_body *b, uint32_t i)
{
	const dt_action *p = &x->c->actions[a->first + i], *q = &y->c->actions[b->first + i];
	const struct dt_plan_action *pp = &x->plan[a->first + i], *qp = &y->plan[b->first + i];

	return p->kind == q->kind && p->difo == q->difo && p->incr == q->incr && p->ntuple == q->ntuple && p->size == q->size &&
	       p->align == q->align && pp->agg == qp->agg && pp->offset == qp->offset && pp->what->role == qp->what->role &&
	       pp->what->bound == qp->what->bound && pp->what->key == qp->what->key && same_argument(x, a, y, b, i);
}

static bool same_part(const struct dt_plan_clause *x, const struct dt_plan_body *a, const struct dt_plan_clause *y,
		      const struct dt_plan_body *b, uint32_t k)
{
	const dt_record_part *p = &x->record.parts[a->part + k], *q = &y->record.parts[b->part + k];
	const struct dt_plan_part *pp = &x->parts[a->part + k], *qp = &y->parts[b->part + k];

	return p->first - a->first == q->first - b->first && p->nactions == q->nactions && p->cost == q->cost &&
	       pp->fixed == qp->fixed && pp->size == qp->size && pp->has_strings == qp->has_strings;
}

static bool same_body(const dt_plan *plan, const struct dt_plan_body *a, const struct dt_plan_body *b)
{
	const struct dt_plan_clause *x = &plan->clauses.v[a->clause], *y = &plan->clauses.v[b->clause];

	if (a->last - a->first != b->last - b->first || a->nparts != b->nparts || a->nloops != b->nloops)
		return false;
	for (uint32_t i = 0; i <= a->last - a->first; i++)
		if (!same_action(x, a, y, b, i))
			return false;
	for (uint32_t k = 0; k < a->nparts; k++)
		if (!same_part(x, a, y, b, k))
			return false;
	return true;
}

/* Two functions of a clause have two bodies, even if they differ in their formats only: they are at two places of it. */
static bool is_taken(const struct dt_plan_clause *x, uint32_t body, uint32_t number)
{
	for (uint32_t i = number + 1; i < x->record.functions; i++)
		if (x->bodies[i] == body)
			return true;
	return false;
}

/* The index of such a body for the function of this number; UINT32_MAX: there are too many. */
static uint32_t find(struct finder *f, struct dt_plan_body *b, uint32_t number)
{
	const dt_clause *c = f->plan->clauses.v[b->clause].c;
	uint32_t at, n = 0;
	char key[64];

	snprintf(key, sizeof(key), "%u %p %p", b->last - b->first, (void *)c->actions[b->first].difo,
		 (void *)c->actions[b->last - 1].difo);
	for (at = (uint32_t)(uintptr_t)dt_map_get(f->known, key); at && n < ALIKE_MAX; at = f->plan->bodies.v[at - 1].alike, n++)
		if (!is_taken(&f->plan->clauses.v[b->clause], at - 1, number) && same_body(f->plan, &f->plan->bodies.v[at - 1], b))
			return at - 1;
	if (f->plan->bodies.n == BODIES_MAX || f->plan->nbody_loops + b->nloops > LOOPS_MAX)
		return UINT32_MAX;
	b->alike = (uint32_t)(uintptr_t)dt_map_get(f->known, key);
	b->rounds = f->plan->nbody_loops;
	f->plan->nbody_loops += b->nloops;
	at = f->plan->bodies.n;
	*dt_vec_add(&f->plan->bodies, NULL) = *b;
	dt_map_set(f->known, key, (void *)(uintptr_t)(at + 1));
	return at;
}

static void study_loops(const struct dt_plan_clause *x, struct dt_plan_body *b)
{
	uint32_t lo = UINT32_MAX, hi = 0;

	for (uint32_t i = b->first; i <= b->last; i++) {
		uint32_t n = dt_control_number(&x->c->actions[i]);

		if (x->record.actions[i].effect != DT_EFFECT_AGAIN)
			continue;
		lo = n < lo ? n : lo;
		hi = n > hi ? n : hi;
	}
	b->loop = lo;
	b->nloops = lo <= hi ? hi - lo + 1 : 0;
}

static void in_clause(struct finder *f, uint32_t clause)
{
	struct dt_plan_clause *x = &f->plan->clauses.v[clause];
	uint32_t left = x->record.functions;

	if (!left || x->record.speculates || x->c->rest)
		return;
	x->bodies = dt_arena_alloc(f->plan->arena, left * sizeof(*x->bodies));
	for (uint32_t i = x->c->nactions; i-- > 0 && left;) { /* those that a function calls come after it */
		struct dt_plan_body b = {.clause = clause, .last = i};

		if (x->record.actions[i].effect != DT_EFFECT_RETURN)
			continue;
		left--;
		b.first = dt_control_target(&x->c->actions[i]);
		b.part = dt_record_part_at(&x->record, b.first);
		b.nparts = dt_record_part_at(&x->record, i) - b.part + 1;
		study_loops(x, &b);
		x->bodies[left] = find(f, &b, left);
	}
}

void dt_plan_bodies(dt_plan *plan)
{
	struct finder f = {plan, NULL};

	for (uint32_t i = 0; i < plan->clauses.n; i++) {
		if (plan->clauses.v[i].record.functions && !f.known)
			f.known = dt_map_new();
		in_clause(&f, i);
	}
	if (f.known)
		dt_map_free(f.known);
}
