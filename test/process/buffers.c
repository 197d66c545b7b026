/*
 * buffers: calls work() N times, then, if there is M, sleeps for a second and calls it M times more, with another second argument;
 * prints how often that was. -t: in two more threads as well, N times.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int n;

__attribute__((noipa)) long work(long i, long kind)
{
	return i + kind;
}

__attribute__((noipa)) int once(int argc)
{
	return argc * 100 - n * 7;
}

static void *call(void *arg)
{
	for (int i = 0; i < n; i++)
		work(i, (long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 && strcmp(argv[3], "-t") == 0 ? 2 : 0, more = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t t[2];

	once(argc);
	n = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, call, (void *)(2l + i)))
			return 1;
	call(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	if (more)
		sleep(1);
	for (int i = 0; i < more; i++)
		work(i, 1);
	printf("calls %d\n", (threads + 1) * n + more);
	return 0;
}
