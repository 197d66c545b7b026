/*
 * shedding: option overhead: what to leave out so that programs stay within their budget.
 *
 * An engine measures what its programs cost and asks here what follows. Above the budget the next of these steps is
 * taken, at every check:
 *
 *	1. printing clauses do not run
 *	2. profile probes fire at a half, a quarter ... of their rates, if they have a quarter of the cost
 *	3. of the firings of aggregating clauses one in 2, 4 ... 1024 is evaluated, and counts for the others
 *	4. tracing ends, if there is nothing else to do for ten checks
 *
 * Steps 2 and 3 go as far at once as the measured cost asks for. When the cost has been below half of the budget for
 * five seconds, the last step is taken back, by a factor of two; then for ten seconds, and so on, so that it does not go
 * back and forth for ever.
 */
#ifndef DT_SHEDDING_H
#define DT_SHEDDING_H

#include "engine/engine.h"

struct dt_shedder {
	struct dt_shedding now;			 /* the result */
	bool has_printing, has_clocks, has_sampled; /* there are such clauses and probes */
	uint32_t above;				 /* checks in a row, with nothing left to do */
	uint64_t calm, rest;			 /* since when it is cheap, 0: it is not; how long that must last */
};

void dt_shedder_init(struct dt_shedder *s, uint64_t limit);
/* A check at this time, in nanoseconds: the cost, and the part of it that profile probes have, in parts per million. */
void dt_shedder_check(struct dt_shedder *s, uint64_t time, uint64_t cost, uint64_t clocks);

#endif
