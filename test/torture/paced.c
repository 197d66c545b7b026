/* paced THREADS CALLS: each thread makes so many calls getppid(), with a pause of a millisecond after every twenty: a load that lasts, with a known number. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int calls;

static void *body(void *arg)
{
	for (int i = 1; i <= calls; i++) {
		syscall(SYS_getppid);
		if (i % 20 == 0)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t[64];

	calls = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < n && i < 64; i++)
		if (pthread_create(&t[i], NULL, body, NULL) != 0)
			return 1;
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}
