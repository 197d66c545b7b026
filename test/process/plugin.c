/*
 * plugin: a library that a program loads and unloads; compiled with -DNAME=..., and -DOWN for a static probe of our own.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
#ifdef OWN
#include "own.h"
#else
#define OWN_STEP(a)
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

static volatile long sum;

__attribute__((noinline)) long JOIN(work_, NAME)(long n)
{
	sum += n;
	OWN_STEP(n);
	return sum * 3 - n;
}

/* Without a frame pointer, and with a frame that only a table describes. */
__attribute__((noinline)) long JOIN(deep_, NAME)(long n)
{
	volatile long room[8] = {n};

	return JOIN(work_, NAME)(room[0]) + room[n & 7];
}

/* What a host calls. */
long run(long n)
{
	long total = 0;

	for (long i = 0; i < n; i++)
		total += JOIN(deep_, NAME)(i);
	if (n == 7)
		syscall(SYS_getppid);
	return total;
}
