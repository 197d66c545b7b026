/*
 * threads ROUNDS CALLS: in each round 16 threads start, make this many system calls that do
 * nothing, and exit. Their first calls are the slowest for a tracer.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N 16

static int calls;

static void *body(void *arg)
{
	for (int i = 0; i < calls; i++)
		syscall(SYS_getppid);
	return arg;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	calls = argc > 2 ? atoi(argv[2]) : 1;
	for (int r = 0; r < rounds; r++) {
		pthread_t t[N];

		for (int i = 0; i < N; i++)
			if (pthread_create(&t[i], NULL, body, NULL) != 0)
				return 1;
		for (int i = 0; i < N; i++)
			pthread_join(t[i], NULL);
	}
	return 0;
}
