/*
 * programs: decides on the programs: one per kind, group and run of clauses; splits those that are
 * too large for the kernel.
 */
#include <stdio.h>

#include "bpf/plan/plan.h"

/* The kernel allows 256 functions in a program; clauses, ERROR's and subroutines share them. */
#define CLAUSES_PER_PROGRAM 160

bool dt_plan_serves(const dt_plan *plan, const struct dt_plan_prog *p, uint32_t probe)
{
	const struct dt_plan_probe *x = &plan->probes.v[probe];

	return x->kind == p->kind && dt_plan_same_group(&x->group, &p->group) &&
	       (p->only == UINT32_MAX || p->only == probe);
}

bool dt_plan_is_on(const dt_plan *plan, const struct dt_plan_prog *p, uint32_t probe)
{
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (plan->clauses.v[p->clauses[i]].ecbs[probe])
			return true;
	return false;
}

static bool is_plain(const struct dt_plan_group *g)
{
	return dt_plan_same_group(g, &(struct dt_plan_group){0});
}

/* More of these may be added: programs for them have all clauses that can ever be on one. */
static bool may_join(const dt_plan *plan, const struct dt_plan_prog *p, uint32_t clause)
{
	return plan->clauses.v[clause].grow_kinds & 1u << p->kind && is_plain(&p->group);
}

static bool clause_served(const dt_plan *plan, const struct dt_plan_prog *p, uint32_t clause)
{
	if (may_join(plan, p, clause))
		return true;
	for (uint32_t i = 0; i < plan->probes.n; i++)
		if (plan->clauses.v[clause].ecbs[i] && dt_plan_serves(plan, p, i))
			return true;
	return false;
}

/* One program like this, or as many as its clauses need. */
static void add_like(dt_plan *plan, const struct dt_plan_prog *like)
{
	struct dt_plan_prog *p = NULL;

	for (uint32_t i = 0; i < plan->clauses.n; i++) {
		if (!(plan->clauses.v[i].kinds & 1u << like->kind) || !clause_served(plan, like, i))
			continue;
		if (!p || p->nclauses == CLAUSES_PER_PROGRAM) {
			bool rest = p != NULL;

			p = dt_vec_add(&plan->progs, NULL);
			*p = *like;
			p->rest = rest;
			p->whole = plan->nwhole++;
			p->clauses =
			    dt_arena_alloc(plan->arena, CLAUSES_PER_PROGRAM * sizeof(uint32_t));
		}
		p->clauses[p->nclauses++] = i;
	}
}

void dt_plan_add_programs(dt_plan *plan, uint32_t probe, bool alone)
{
	const struct dt_plan_probe *x = &plan->probes.v[probe];

	add_like(plan, &(struct dt_plan_prog){.kind = x->kind,
					      .group = x->group,
					      .prologues = x->prologue != 0,
					      .only = alone ? probe : UINT32_MAX});
}

static bool has_program(const dt_plan *plan, uint32_t probe)
{
	for (uint32_t i = 0; i < plan->progs.n; i++)
		if (dt_plan_serves(plan, &plan->progs.v[i], probe))
			return true;
	return false;
}

/* Can the program find out which of its probes fired? If not, each has its own. So has a probe
 * about another thread: the kernel trusts the pointer to that thread only if it knows the event
 * when it loads the program. */
static bool told_apart(const dt_plan *plan, const struct dt_plan_probe *x)
{
	if (dt_kind_is_function(x->kind))
		return x->group.how != HOW_FENTRY;
	return x->kind != PK_TRACEPOINT || (dt_plan_can(plan, COOKIES) && !x->at.task_arg);
}

/* For a kind that has no probes yet. */
static void add_lazy_programs(dt_plan *plan)
{
	static const enum dt_probe_kind kinds[] = {PK_UPROBE, PK_URETPROBE};

	for (size_t k = 0; k < DT_NELEM(kinds); k++) {
		bool has = false;

		for (uint32_t i = 0; i < plan->progs.n; i++)
			has = has || (plan->progs.v[i].kind == kinds[k] &&
				      is_plain(&plan->progs.v[i].group));
		if (!has)
			add_like(plan, &(struct dt_plan_prog){
					   .kind = kinds[k], .only = UINT32_MAX, .lazy = true});
	}
}

/* Kind by kind, in the order of attaching. */
void dt_plan_programs(dt_plan *plan)
{
	for (int k = 0; k < PK_MAX; k++)
		for (uint32_t i = 0;
		     k != PK_ERROR &&
		     (plan->nevents[k] || dt_kind_is_syscall((enum dt_probe_kind)k)) &&
		     i < plan->probes.n;
		     i++)
			if (plan->probes.v[i].kind == (enum dt_probe_kind)k &&
			    !has_program(plan, i))
				dt_plan_add_programs(plan, i,
						     !told_apart(plan, &plan->probes.v[i]));
	if (plan->grows)
		add_lazy_programs(plan);
}

/* ---- programs that are too large ----
 *
 * The kernel allows 64 maps and 256 functions in a program. The time it takes to load one grows
 * with the square of its size, because each instruction it rewrites moves all others.
 *
 * What does not fit continues in the next program, reached by a tail call, so that it is still the
 * same firing: the time, clause-local variables, the text of strtok(). Where a kind of program
 * cannot do that (one that may sleep, one whose event the kernel binds when it is loaded), or after
 * the kernel's maximum of tail calls, the next one is attached to the same event separately, and
 * continues if it finds its slot as the previous one left it.
 */
#define MAX_MAPS      38 /* of variables and aggregations; the others are ours, and ring buffers */
#define MAX_FUNCTIONS 250
#define MAX_CODE      16000

static bool is_first(dt_map *seen, const void *what)
{
	char key[32];

	snprintf(key, sizeof(key), "%p", what);
	if (dt_map_get(seen, key))
		return false;
	dt_map_set(seen, key, seen);
	return true;
}

/* The maps of one clause; those of seen variables and aggregations are counted once. */
static uint32_t count_maps(const dt_plan *plan, const struct dt_plan_clause *x, dt_map *seen)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->c->nactions; i++)
		if (x->plan[i].agg && x->plan[i].agg->key_size)
			n += is_first(seen, x->plan[i].agg);
	DT_EACH_DIFO(it, x->c)
		for (uint32_t v = 0; v < it.difo->nvars; v++) {
			const dt_difvar *dv = &it.difo->vars[v];
			const struct dt_plan_var *var = dt_plan_var_find(plan, dv->scope, dv->id);

			if (var && var->array)
				n += is_first(seen, var);
		}
	return n;
}

static uint32_t maps_of(const dt_plan *plan, const struct dt_plan_prog *p)
{
	dt_map *seen = dt_map_new();
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nclauses; i++)
		n += count_maps(plan, &plan->clauses.v[p->clauses[i]], seen);
	for (uint32_t i = 0; i < plan->clauses.n; i++)
		if (plan->clauses.v[i].kinds & 1u << PK_ERROR)
			n += count_maps(plan, &plan->clauses.v[i], seen);
	dt_map_free(seen);
	return n;
}

#define MAX_TAIL_CALLS 32 /* the kernel's limit is 33 */

bool dt_plan_continues(const dt_plan *plan, uint32_t prog)
{
	const struct dt_plan_prog *p = &plan->progs.v[prog];
	uint32_t n = 0;

	if (!dt_kind_of(p->kind)->in_turn || p->group.task_arg)
		return false;
	while (p[-(int)n].rest)
		n++;
	return n % (MAX_TAIL_CALLS + 1) != 0;
}

bool dt_plan_has_rest(const dt_plan *plan, uint32_t prog)
{
	return prog + 1 < plan->progs.n && plan->progs.v[prog + 1].rest;
}

bool dt_plan_is_continued(const dt_plan *plan, uint32_t prog)
{
	return dt_plan_has_rest(plan, prog) && dt_plan_continues(plan, prog + 1);
}

/*
 * The n-th program to attach. The kernel calls those at a tracepoint in the order of attaching; at
 * a place in user code or a kernel function the last one is called first. So there the parts of a
 * program are attached from the last to the first.
 */
uint32_t dt_plan_nth_to_attach(const dt_plan *plan, uint32_t n)
{
	uint32_t first = n, last = n;

	if (dt_kind_of(plan->progs.v[n].kind)->in_turn)
		return n;
	while (plan->progs.v[first].rest)
		first--;
	while (dt_plan_has_rest(plan, last))
		last++;
	return first + last - n;
}

/* Both halves would have the functions that their clauses share: with these it may be larger. */
static bool is_long(uint32_t insns, uint32_t shared)
{
	return insns - shared >= MAX_CODE || (insns >= 4 * MAX_CODE && insns - shared >= insns / 4);
}

bool dt_plan_split(dt_plan *plan, uint32_t prog, uint32_t insns, uint32_t shared, uint32_t functions)
{
	struct dt_plan_prog *p = &plan->progs.v[prog], half = *p;

	if (p->nclauses < 2 ||
	    (!is_long(insns, shared) && functions < MAX_FUNCTIONS && maps_of(plan, p) < MAX_MAPS))
		return false;
	half.nclauses = p->nclauses / 2;
	p->clauses += half.nclauses;
	p->nclauses -= half.nclauses;
	p->rest = true;
	dt_vec_add(&plan->progs, NULL);
	memmove(plan->progs.v + prog + 1, plan->progs.v + prog,
		(plan->progs.n - prog - 1) * sizeof(*plan->progs.v));
	plan->progs.v[prog] = half;
	return true;
}
