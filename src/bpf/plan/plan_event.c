/*
 * plan_event: tracepoints that can interrupt each other have separate programs.
 *
 * The kernel does not run a program that is already running on this CPU: it counts the firing as
 * missed. With one program for all tracepoints, a timer interrupt during the firing of another
 * tracepoint would be lost. So each tracepoint has its own program if there are few; a tracepoint
 * does not interrupt itself, except those that fire both in threads and in interrupts
 * (contention_begin). Each program takes time to load, so if there are many they share one.
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
