/*
 * turns: threads that take turns on a CPU, for the tests of sched.
 *
 *	turns [-n times] PHASE ...
 *
 *	pipe	two threads on one CPU hand a byte back and forth, `times` times each way
 *	yield	one thread yields
 *	hog	two threads on one CPU do nothing but run, until each has lost it three times
 *	burn	a thread runs for a fifth of a second of CPU time
 *	nice	a thread changes its priority twice
 *	boost	a thread of priority FIFO 10 waits for a lock that another one holds, which inherits it
 *	surrender   a thread is woken on a CPU where another one runs (needs two CPUs)
 *
 * What counts is between getppid() and getpgid() of each thread. It prints nothing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long times = 100;
static int ping[2], pong[2];
static pthread_mutex_t lock;
static pthread_barrier_t both;
static volatile int done;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		perror("turns: sched_setaffinity"), exit(2);
}

static void begin(void)
{
	syscall(SYS_getppid);
}

static void end(void)
{
	syscall(SYS_getpgid, 0);
}

static void *player(void *arg)
{
	int first = arg != NULL, *in = first ? pong : ping, *out = first ? ping : pong;
	char c = 0;

	pin(0);
	pthread_barrier_wait(&both);
	begin();
	for (long i = 0; i < times; i++) {
		if (first && write(out[1], &c, 1) != 1)
			exit(2);
		if (read(in[0], &c, 1) != 1)
			exit(2);
		if (!first && write(out[1], &c, 1) != 1)
			exit(2);
	}
	end();
	return NULL;
}

static void *yielder(void *arg)
{
	(void)arg;
	pin(0);
	begin();
	for (long i = 0; i < times; i++)
		sched_yield();
	end();
	return NULL;
}

static void *hog(void *arg)
{
	static int ready;
	struct rusage u, first;

	(void)arg;
	pin(0);
	pthread_barrier_wait(&both);
	begin();
	getrusage(RUSAGE_THREAD, &first); /* it may have lost the CPU before */
	for (int counted = 0; __atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2;) {
		for (volatile int i = 0; i < 100000; i++)
			;
		getrusage(RUSAGE_THREAD, &u);
		if (!counted && u.ru_nivcsw >= first.ru_nivcsw + 3) {
			counted = 1;
			__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
		}
	}
	end();
	return NULL;
}

static void *burn(void *arg)
{
	struct rusage u;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		getrusage(RUSAGE_THREAD, &u);
	} while (u.ru_utime.tv_sec == 0 && u.ru_utime.tv_usec < 200000);
	return arg;
}

static void *nice_one(void *arg)
{
	begin();
	setpriority(PRIO_PROCESS, 0, 5);
	setpriority(PRIO_PROCESS, 0, 7);
	end();
	return arg;
}

/* The holder has the lock until the other one sleeps on it. */
static void *holder(void *arg)
{
	char path[64], state = 0;
	FILE *f;

	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&both);
	begin();
	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", *(volatile long *)arg);
	while (state != 'S') {
		f = fopen(path, "re");
		if (!f || fscanf(f, "%*d (turns) %c", &state) != 1)
			exit(2);
		fclose(f);
	}
	pthread_mutex_unlock(&lock);
	end();
	return NULL;
}

static void *waiter(void *arg)
{
	struct sched_param fifo = {.sched_priority = 10};

	*(volatile long *)arg = syscall(SYS_gettid);
	if (sched_setscheduler(0, SCHED_FIFO, &fifo) < 0)
		exit(3); /* not allowed here */
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *runner(void *arg)
{
	(void)arg;
	pin(1);
	setpriority(PRIO_PROCESS, 0, 19);
	pthread_barrier_wait(&both);
	while (!done)
		;
	return NULL;
}

static void *woken(void *arg)
{
	char c;

	(void)arg;
	pin(1);
	setpriority(PRIO_PROCESS, 0, -20);
	while (read(ping[0], &c, 1) == 1 && c == 0)
		if (write(pong[1], &c, 1) != 1)
			exit(2);
	return NULL;
}

static void surrender(void)
{
	pthread_t a, b;
	char c = 0;

	pin(0);
	pthread_create(&a, NULL, runner, NULL);
	pthread_create(&b, NULL, woken, NULL);
	pthread_barrier_wait(&both);
	begin();
	for (long i = 0; i < times; i++)
		if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
			exit(2);
	end();
	c = 1;
	done = 1;
	if (write(ping[1], &c, 1) != 1)
		exit(2);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void two(void *(*f)(void *), void *x, void *(*g)(void *), void *y)
{
	pthread_t a, b;

	pthread_create(&a, NULL, f, x);
	pthread_create(&b, NULL, g, y);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void one(void *(*f)(void *))
{
	pthread_t a;

	pthread_create(&a, NULL, f, NULL);
	pthread_join(a, NULL);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	volatile long tid = 0;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1)
		times = atol(optarg);
	if (pipe(ping) < 0 || pipe(pong) < 0)
		return 2;
	pthread_barrier_init(&both, NULL, 2);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock, &attr);
	for (int i = optind; i < argc; i++) {
		if (strcmp(argv[i], "pipe") == 0)
			two(player, NULL, player, argv);
		else if (strcmp(argv[i], "yield") == 0)
			one(yielder);
		else if (strcmp(argv[i], "hog") == 0)
			two(hog, NULL, hog, NULL);
		else if (strcmp(argv[i], "burn") == 0)
			one(burn);
		else if (strcmp(argv[i], "nice") == 0)
			one(nice_one);
		else if (strcmp(argv[i], "boost") == 0)
			two(holder, (void *)&tid, waiter, (void *)&tid);
		else if (strcmp(argv[i], "surrender") == 0)
			surrender();
		else
			return 2;
	}
	return 0;
}
