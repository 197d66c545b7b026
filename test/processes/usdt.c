/*
 * usdt: a program with static probes, made with dtrace -h from usdt.d (test/processes/usdt.sh).
 *
 *	usdt [-n rounds] [-t threads] [-w] [-e] [-f generations]
 *
 * Each thread goes through its rounds: leaf(i) computes a sum in a local array around a probe, as a function
 * without calls would do in its red zone, and checks it; fire(i) passes arguments of all sizes. -w waits for a
 * line before it starts and for the end of input before it ends; -f also waits for a line, then
 * forks, and so does the child, this many times, and the last one continues; -e fires leaf(0) until
 * it gets a line.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "usdt.h"

struct conn {
	int fd;
	const char *peer;
};

static long rounds = 100, wrong;

static __attribute__((noinline)) long leaf(long a)
{
	volatile long x[8];
	long sum = 0;

	for (int i = 0; i < 8; i++)
		x[i] = a + i;
	MYSERV_LEAF(x[3]);
	for (int i = 0; i < 8; i++)
		sum += x[i];
	return sum;
}

static __attribute__((noinline)) void fire(long i)
{
	struct conn c = {(int)i, "peer"};

	MYSERV_QUERY_START("select 1", (int)-i);
	if (MYSERV_QUERY_DONE_ENABLED())
		MYSERV_QUERY_DONE((unsigned long long)i * 1000, &c, (short)-2, (unsigned char)200);
	MYSERV_IDLE();
	MYSERV_MANY(1, 2, 3, 4, 5, 6, 7, 8, 9, (int)i);
}

static void *work(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		if (leaf(i) != 8 * i + 28)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		fire(i);
	}
	return arg;
}

int main(int argc, char **argv)
{
	long threads = 1, waits = 0, enabled = 0, forks = 0;
	pthread_t t[64];
	char line[64];
	int opt;

	while ((opt = getopt(argc, argv, "n:t:wef:")) != -1)
		switch (opt) {
		case 'n': rounds = atol(optarg); break;
		case 't': threads = atol(optarg); break;
		case 'w': waits = 1; break;
		case 'e': enabled = 1; break;
		case 'f': forks = atol(optarg); break;
		default: return 2;
		}
	if (waits && !fgets(line, sizeof(line), stdin))
		return 1;
	if (forks && read(0, line, 1) != 1)
		return 1;
	for (; forks > 0; forks--) {
		int status = 0;

		if (fork() == 0)
			continue;
		wait(&status);
		return status != 0;
	}
	while (enabled && poll(&(struct pollfd){.events = POLLIN}, 1, 1) == 0)
		MYSERV_LEAF(0);
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (long i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], NULL);
	printf("wrong %ld\n", wrong);
	fflush(stdout);
	while (waits && fgets(line, sizeof(line), stdin))
		;
	return wrong != 0;
}
