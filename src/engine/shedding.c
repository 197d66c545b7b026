/*
 * shedding: what to leave out so that programs stay within their budget, see shedding.h.
 */
#include "engine/shedding.h"

#define PATIENCE    10
#define REST	    5000000000ull   /* nanoseconds */
#define MOST_REST   300000000000ull
#define MOST_RATE   64
#define MOST_SAMPLE 1024

void dt_shedder_init(struct dt_shedder *s, uint64_t limit)
{
	*s = (struct dt_shedder){.now = {.limit = limit, .rate = 1, .sample = 1}, .rest = REST};
}

/* n times the power of two by which the cost must shrink */
static uint32_t grown(const struct dt_shedder *s, uint32_t n, uint64_t cost, uint32_t most)
{
	uint32_t factor = 2;

	while (factor < most && cost > s->now.limit * factor)
		factor *= 2;
	return n * factor < most ? n * factor : most;
}

static void shed(struct dt_shedder *s, uint64_t cost, uint64_t clocks)
{
	s->now.cost = cost;
	if (s->has_printing && !s->now.quiet)
		s->now.quiet = true;
	else if (s->has_clocks && clocks * 4 > cost && s->now.rate < MOST_RATE)
		s->now.rate = grown(s, s->now.rate, cost, MOST_RATE);
	else if (s->has_sampled && s->now.sample < MOST_SAMPLE)
		s->now.sample = grown(s, s->now.sample, cost, MOST_SAMPLE);
	else if (++s->above >= PATIENCE)
		s->now.ended = true;
}

static bool restore(struct dt_shedder *s)
{
	if (s->now.sample > 1)
		s->now.sample /= 2;
	else if (s->now.rate > 1)
		s->now.rate /= 2;
	else if (s->now.quiet)
		s->now.quiet = false;
	else
		return false;
	return true;
}

void dt_shedder_check(struct dt_shedder *s, uint64_t time, uint64_t cost, uint64_t clocks)
{
	if (s->now.ended)
		return;
	if (cost > s->now.limit) {
		s->calm = 0;
		shed(s, cost, clocks);
		return;
	}
	s->above = 0;
	if (cost * 2 > s->now.limit) {
		s->calm = 0;
	} else if (!s->calm) {
		s->calm = time;
	} else if (time - s->calm >= s->rest && restore(s)) {
		s->now.cost = cost;
		s->calm = time;
		s->rest = s->rest * 2 < MOST_REST ? s->rest * 2 : MOST_REST;
	}
}
