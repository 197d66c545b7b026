/*
 * spinner: a program to sample, for the tests of the process engine.
 *
 *   spinner FILE
 *
 * Until FILE exists, two threads are in inner(), called by outer(); one mostly waits in epoll_wait(), and one is in sleeping().
 * At the end it says how often epoll_wait() was interrupted, and whether every result was right.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char *file;
static volatile long sink;
static long wrong, interrupted;

__attribute__((noipa)) long inner(long n)
{
	long s = 0;

	for (long i = 0; i < n; i++) {
		s += i;
		sink = s;
	}
	return s;
}

__attribute__((noipa)) long outer(long n)
{
	return inner(n) + 1;
}

static int goes_on(void)
{
	return access(file, F_OK) != 0;
}

static void *spin(void *arg)
{
	while (goes_on())
		if (outer(100000) != 4999950001)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void *wait_often(void *arg)
{
	int fd = epoll_create1(0);
	struct epoll_event e;

	for (long n = 0; n % 64 || goes_on(); n++)
		if (epoll_wait(fd, &e, 1, n % 8 == 0) < 0)
			interrupted += errno == EINTR;
	return arg;
}

__attribute__((noipa)) void *sleeping(void *arg)
{
	while (goes_on())
		usleep(1000);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[3];

	if (argc < 2)
		return 2;
	file = argv[1];
	pthread_create(&t[0], NULL, spin, NULL);
	pthread_create(&t[1], NULL, wait_often, NULL);
	pthread_create(&t[2], NULL, sleeping, NULL);
	spin(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("wrong %ld interrupted %ld\n", wrong, interrupted);
	return 0;
}
