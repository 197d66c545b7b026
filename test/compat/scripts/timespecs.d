#!/usr/sbin/dtrace -s
// run: -q
/*
 * timespecs.d: differences of times as structures, with inline functions.
 */
inline int64_t NANOSEC = 1000000000;
inline int64_t as_ns[timespec_t *t] = t->tv_sec * NANOSEC + t->tv_nsec;
inline boolean_t later[timespec_t *a, timespec_t *b] = as_ns[a] > as_ns[b] ? B_TRUE : B_FALSE;

timespec_t *a, *b;

BEGIN
{
	a = alloca(sizeof (timespec_t));
	b = alloca(sizeof (timespec_t));
	a->tv_sec = 10;
	a->tv_nsec = 900000000;
	b->tv_sec = 12;
	b->tv_nsec = 100000000;
	printf("%d.%09d to %d.%09d: %d ms\n", a->tv_sec, a->tv_nsec, b->tv_sec, b->tv_nsec, (as_ns[b] - as_ns[a]) / 1000000);
	printf("%d %d\n", later[b, a] == B_TRUE, later[a, b]);
	bcopy(b, a, sizeof (timespec_t));
	printf("%d %d\n", later[b, a], as_ns[a] == as_ns[b]);
	exit(0);
}
