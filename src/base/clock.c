/*
 * clock: the time, in nanoseconds.
 *
 * What the kernel records has the time of its own monotonic clock. In a time namespace ours differs from that by an
 * offset, which /proc tells; it is asked each time, because it costs little and nobody asks often.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/base.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t dt_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* "monotonic -1000 0": seconds and nanoseconds that were added to our clock. */
static uint64_t namespace_offset(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t sec, ns;
	int n = f ? fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &sec, &ns) : 0;

	if (f)
		fclose(f);
	return n == 2 ? (uint64_t)sec * 1000000000u + (uint64_t)ns : 0;
}

uint64_t dt_now_kernel(void)
{
	uint64_t offset = namespace_offset();

	return dt_now() - offset;
}

uint64_t dt_now_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
