/*
 * plan_var: user variables, and the types that all DIFOs together give them.
 */
#include "bpf/plan/plan.h"

static struct dt_plan_var *find(dt_plan *plan, int scope, uint32_t id)
{
	struct dt_plan_scope *s = &plan->vars[scope];

	return id >= DT_VAR_USER_MIN && id - DT_VAR_USER_MIN < s->n ? &s->v[id - DT_VAR_USER_MIN]
								    : NULL;
}

const struct dt_plan_var *dt_plan_var_find(const dt_plan *plan, int scope, uint32_t id)
{
	return find((dt_plan *)plan, scope, id);
}

static void count_vars(dt_plan *plan, const dt_difo *d)
{
	for (uint32_t i = 0; d && i < d->nvars; i++) {
		struct dt_plan_scope *s = &plan->vars[d->vars[i].scope];

		if (d->vars[i].id >= DT_VAR_USER_MIN && d->vars[i].id - DT_VAR_USER_MIN >= s->n)
			s->n = d->vars[i].id - DT_VAR_USER_MIN + 1;
	}
}

static void type_vars(dt_plan *plan, const dt_difo *d)
{
	for (uint32_t i = 0; d && i < d->nvars; i++) {
		const dt_difvar *v = &d->vars[i];
		struct dt_plan_var *x = find(plan, v->scope, v->id);
		uint32_t size = v->type.size;

		if (!x)
			continue;
		x->seen = true;
		x->array = x->array || v->kind == DT_VAR_ARRAY;
		if (!(v->type.flags & (DT_TF_BYREF | DT_TF_BYUREF)))
			continue;
		x->byref = true;
		x->user = v->type.flags & DT_TF_BYUREF;
		x->string = v->type.kind == DT_TYPE_STRING;
		if (x->string) /* as many characters, and the NUL */
			size =
			    size == 0 || size >= plan->strsize ? (uint32_t)plan->strsize : size + 1;
		if (size > x->size)
			x->size = size;
	}
}

static void each_difo(dt_plan *plan, void (*f)(dt_plan *plan, const dt_difo *d))
{
	for (uint32_t i = 0; i < plan->clauses.n; i++) {
		DT_EACH_DIFO(it, plan->clauses.v[i].c)
			f(plan, it.difo);
	}
	for (uint32_t i = 0; i < plan->prologues.n; i++) {
		f(plan, plan->prologues.v[i].when);
		for (uint32_t k = 0; k < DT_ATTACH_ARGS; k++)
			f(plan, plan->prologues.v[i].arg[k]);
	}
}

void dt_plan_vars(dt_plan *plan)
{
	each_difo(plan, count_vars);
	for (int i = 0; i < DT_PLAN_SCOPES; i++) {
		struct dt_plan_scope *s = &plan->vars[i];

		s->v = dt_arena_alloc(plan->arena, (s->n + 1) * sizeof(*s->v));
	}
	each_difo(plan, type_vars);
}
