/*
 * needs: initializes what is learned, and compares it.
 */
#include "bpf/plan/needs.h"

void dt_needs_init(dt_plan_needs *n, const dt_plan *p)
{
	*n = (dt_plan_needs){0};
	for (int i = 0; i < DT_PLAN_SCOPES; i++)
		n->keys[i] = dt_arena_alloc(p->arena, (p->vars[i].n + 1) * sizeof(*n->keys[i]));
	dt_needs_make_room(n, p);
}

void dt_needs_make_room(dt_plan_needs *n, const dt_plan *p)
{
	uint32_t *used;

	if (n->nused > p->nwhole)
		return;
	used = dt_arena_alloc(p->arena, (p->nwhole + 1) * 2 * sizeof(*used));
	if (n->nused)
		memcpy(used, n->used, n->nused * sizeof(*used));
	n->used = used;
	n->nused = (p->nwhole + 1) * 2;
}

bool dt_needs_grew(const dt_plan_needs *before, const dt_plan_needs *now)
{
	return memcmp(&before->is, &now->is, sizeof(now->is)) != 0;
}
