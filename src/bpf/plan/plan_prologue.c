/*
 * plan_prologue: what stable probes compute before their clauses run, as DIF that the session has
 * compiled. The code is in translate/tr_prologue.c.
 */
#include "bpf/plan/plan.h"

static bool same_difo(const dt_difo *a, const dt_difo *b)
{
	if (!a || !b)
		return a == b;
	return a->len == b->len && a->intlen == b->intlen && a->strlen == b->strlen &&
	       memcmp(a->text, b->text, a->len * sizeof(*a->text)) == 0 &&
	       (!a->intlen || memcmp(a->inttab, b->inttab, a->intlen * sizeof(*a->inttab)) == 0) &&
	       (!a->strlen || memcmp(a->strtab, b->strtab, a->strlen) == 0);
}

static bool same_prologue(const dt_prologue *a, const dt_prologue *b)
{
	if (a->own != b->own || !same_difo(a->when, b->when))
		return false;
	for (uint32_t i = 0; i < DT_ATTACH_ARGS; i++)
		if (!same_difo(a->arg[i], b->arg[i]))
			return false;
	return true;
}

uint32_t dt_plan_prologue_add(dt_plan *plan, const dt_prologue *p)
{
	for (uint32_t i = 0; i < plan->prologues.n; i++)
		if (same_prologue(p, &plan->prologues.v[i]))
			return i + 1;
	*dt_vec_add(&plan->prologues, NULL) = *p;
	return plan->prologues.n;
}
