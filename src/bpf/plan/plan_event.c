/*
 * plan_event: tracepoints that can interrupt one another have programs of their own.
 *
 * The kernel does not run a program that is running on this CPU already: it counts the firing as missed.
 * With one program for all tracepoints, a timer's interrupt during the firing of another tracepoint would be lost.
 * So each tracepoint has its own program while there are few; one does not interrupt itself, but for those that
 * fire in threads as well as in interrupts (contention_begin). Each program takes time to load, so many share one.
 */
#include <stdio.h>

#include "bpf/plan/plan.h"

#define FEW 16

void dt_plan_events(dt_plan *plan)
{
	dt_map *events = dt_map_new();
	uintptr_t n = 0;

	for (uint32_t i = 0; i < plan->probes.n; i++)
		if (plan->probes.v[i].kind == PK_TRACEPOINT &&
		    !dt_map_get(events, plan->probes.v[i].at.event))
			dt_map_set(events, plan->probes.v[i].at.event, (void *)++n);
	for (uint32_t i = 0; i < plan->probes.n && n > 1 && n <= FEW; i++)
		if (plan->probes.v[i].kind == PK_TRACEPOINT)
			plan->probes.v[i].group.event =
			    (uint32_t)(uintptr_t)dt_map_get(events, plan->probes.v[i].at.event);
	dt_map_free(events);
}
