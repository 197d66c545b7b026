/* Preloaded: the clock that does not jump runs ten times as fast. Waiting takes as long as ever. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FASTER 10
#define SECOND 1000000000LL

int clock_gettime(clockid_t id, struct timespec *t)
{
	static long long first;
	long long now;
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (rc != 0 || id != CLOCK_MONOTONIC)
		return rc;
	now = t->tv_sec * SECOND + t->tv_nsec;
	if (!first)
		first = now;
	now = first + (now - first) * FASTER;
	t->tv_sec = now / SECOND;
	t->tv_nsec = now % SECOND;
	return 0;
}
