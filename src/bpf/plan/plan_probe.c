/*
 * plan_probe: the probes of a plan, where each is attached, and which of them can share a program.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bpf/plan/plan.h"

bool dt_plan_same_group(const struct dt_plan_group *a, const struct dt_plan_group *b)
{
	return a->nargs == b->nargs && a->event == b->event && a->task_arg == b->task_arg &&
	       a->prologues == b->prologues && a->how == b->how && a->joined == b->joined;
}

/* Probes of one kind and group can share a program: one that reads an argument may not be attached to a
 * tracepoint that has fewer. Those with prologues have separate programs, where arguments are in
 * the slot. */
#define PROLOGUES_PER_PROGRAM 64

static uint32_t prologue_group(const dt_plan *plan, const struct dt_plan_probe *x)
{
	uint32_t group = 1 + (x->prologue - 1) / PROLOGUES_PER_PROGRAM;

	if (!dt_kind_is_syscall(x->kind))
		return group;
	/* One program has one probe for each system call. */
	for (uint32_t i = 0; i < plan->probes.n; i++) {
		const struct dt_plan_probe *o = &plan->probes.v[i];

		if (o != x && o->kind == x->kind && o->event == x->event &&
		    o->group.prologues >= group)
			group = o->group.prologues + 1;
	}
	return group;
}

static void group_probe(dt_plan *plan, struct dt_plan_probe *x)
{
	dt_type *f = NULL;

	if (x->kind == PK_TRACEPOINT && plan->types)
		f = dt_tracepoint_type(plan->types, x->at.event);
	if (f && f->nparams > 1)
		x->nargs = f->nparams - 1;
	x->group = (struct dt_plan_group){.nargs = x->nargs, .task_arg = x->at.task_arg};
	if (x->prologue)
		x->group.prologues = prologue_group(plan, x);
}

/* One event of a probe. */
static void add_event(dt_plan *plan, const dt_probe *p, const dt_event *ev, bool more)
{
	struct dt_plan_probe *x = dt_vec_add(&plan->probes, NULL);

	x->probe = p;
	x->at = ev->at;
	x->kind = (enum dt_probe_kind)x->at.kind;
	x->event = dt_kind_is_syscall(x->kind) ? (uint32_t)x->at.number : plan->nevents[x->kind]++;
	x->more = more;
	if (ev->prologue)
		x->prologue = dt_plan_prologue_add(plan, ev->prologue);
	group_probe(plan, x);
}

uint32_t dt_plan_probe_index(dt_plan *plan, const dt_ecb *ecb)
{
	uint32_t first = plan->probes.n;
	char key[16];
	void *known;

	snprintf(key, sizeof(key), "%u", ecb->probe->id);
	known = dt_map_get(plan->seen, key);
	if (known)
		return (uint32_t)(uintptr_t)known - 1;
	for (uint32_t i = 0; i < ecb->events->n; i++)
		add_event(plan, ecb->probe, &ecb->events->v[i], i + 1 < ecb->events->n);
	dt_map_set(plan->seen, key, (void *)(uintptr_t)(first + 1));
	return first;
}

void dt_plan_ecb_room(dt_plan *plan)
{
	uint32_t room = plan->ecb_room;

	if (plan->probes.n <= room)
		return;
	plan->ecb_room = plan->grows ? plan->probes.n * 2 + 64 : plan->probes.n;
	for (uint32_t i = 0; i < plan->clauses.n; i++) {
		struct dt_plan_clause *x = &plan->clauses.v[i];

		x->ecbs = dt_xrealloc(x->ecbs, plan->ecb_room * sizeof(*x->ecbs));
		memset(x->ecbs + room, 0, (plan->ecb_room - room) * sizeof(*x->ecbs));
	}
}

void dt_plan_set_ecb(dt_plan *plan, uint32_t clause, uint32_t probe, const dt_ecb *ecb)
{
	do {
		plan->clauses.v[clause].kinds |= 1u << plan->probes.v[probe].kind;
		plan->clauses.v[clause].ecbs[probe] = ecb;
	} while (plan->probes.v[probe++].more);
}
