/*
 * load: a known number of system calls, made by threads that preempt each other.
 *
 *	load [-t threads] [-n calls per thread] [-k keys] [-u] [-y] [-w]
 *
 * Each thread makes its calls of getppid(); with -k it makes getpriority(99, i % keys) instead, which
 * fails at once and shows the key as arg1. Threads are spread over the CPUs, two or more on each, so that
 * they preempt each other; -y yields after every eighth call. -u calls the function place(i) before each system call,
 * for probes in user code. -w waits for a line on standard input
 * before starting and for the end of it before ending. It prints nothing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long calls = 1000, keys;
static int yields, places;
#define STACK (128 << 10) /* it must run where memory is short: test/torture/memory.py */

static pthread_barrier_t start;

static __attribute__((noipa)) void place(long i)
{
	__asm__ volatile("" : : "r"(i));
}

static void *make_calls(void *arg)
{
	long me = (long)arg, ncpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(me % ncpus), &set);
	sched_setaffinity(0, sizeof(set), &set);
	pthread_barrier_wait(&start);
	for (long i = 0; i < calls; i++) {
		if (places)
			place(i);
		if (keys)
			syscall(SYS_getpriority, 99, i % keys);
		else
			syscall(SYS_getppid);
		if (yields && i % 8 == 7)
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	int opt, waits = 0;
	pthread_attr_t small;
	pthread_t *t;
	char line[64];

	while ((opt = getopt(argc, argv, "t:n:k:uyw")) != -1)
		switch (opt) {
		case 't': threads = atol(optarg); break;
		case 'n': calls = atol(optarg); break;
		case 'k': keys = atol(optarg); break;
		case 'u': places = 1; break;
		case 'y': yields = 1; break;
		case 'w': waits = 1; break;
		default: return 2;
		}
	if (waits && !fgets(line, sizeof(line), stdin))
		return 1;
	t = calloc((size_t)threads, sizeof(*t));
	pthread_barrier_init(&start, NULL, (unsigned)threads);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&t[i], &small, make_calls, (void *)i) != 0) {
			fprintf(stderr, "load: no memory for a thread\n");
			return 1;
		}
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	while (waits && fgets(line, sizeof(line), stdin))
		;
	return 0;
}
