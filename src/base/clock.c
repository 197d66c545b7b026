/*
 * clock: the time, in nanoseconds.
 *
 * The kernel's records carry the time of its own monotonic clock. In a time namespace ours differs
 * from that by an offset, found in /proc. It is fixed when the first process enters the namespace,
 * so it is read only once: readers of buffers need the time in every round.
 */
#include <inttypes.h>
#include <pthread.h>
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

static uint64_t namespace_offset;

/* "monotonic -1000 0": seconds and nanoseconds that were added to our clock. */
static void read_offset(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t sec, ns;

	if (f && fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &sec, &ns) == 2)
		namespace_offset = (uint64_t)sec * 1000000000u + (uint64_t)ns;
	if (f)
		fclose(f);
}

uint64_t dt_now_kernel(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_offset);
	return dt_now() - namespace_offset;
}

uint64_t dt_now_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
