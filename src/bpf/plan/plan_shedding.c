/*
 * plan_shedding: which clauses may be left out to keep a budget (option overhead).
 *
 * Printing clauses go first; of the firings of aggregating ones only some are evaluated, and count for the others. A
 * clause that does more than that (exit(), speculations, destructive actions, clear() and its like), or only sets
 * variables for others, always runs; so does one that fires at BEGIN, END, ERROR and tick probes only, which is rare.
 */
#include "bpf/plan/plan.h"

static bool is_plain(const struct dt_plan_clause *x)
{
	for (uint32_t i = 0; i < x->c->nactions; i++) {
		enum dt_effect effect = x->record.actions[i].effect;

		if (effect != DT_EFFECT_NONE && effect != DT_EFFECT_AGGREGATE && !dt_effect_is_control(effect))
			return false;
		if (x->c->actions[i].kind == DT_ACT_LIBACT)
			return false;
	}
	return !x->c->destructive;
}

static bool fires_often(const dt_plan *p, const struct dt_plan_clause *x)
{
	if (x->grow_kinds)
		return true;
	for (uint32_t i = 0; i < p->probes.n; i++) {
		const struct dt_plan_probe *y = &p->probes.v[i];

		if (x->ecbs[i] && !dt_kind_is_tracer(y->kind) && !(y->kind == PK_PROFILE && y->at.one))
			return true;
	}
	return false;
}

void dt_plan_shedding(dt_plan *p)
{
	p->budget = dt_opt(p->opts, DT_O_OVERHEAD) != 0;
	for (uint32_t i = 0; p->budget && i < p->clauses.n; i++) {
		struct dt_plan_clause *x = &p->clauses.v[i];

		if (!is_plain(x) || !fires_often(p, x))
			continue;
		if (x->record.aggregates)
			x->shed = DT_SHED_SAMPLED;
		else if (x->size)
			x->shed = DT_SHED_PRINTING;
	}
}
