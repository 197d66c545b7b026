/* work N THREADS: N getppid() calls on each of THREADS threads, with the argument 0, 1 ... */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long n;

static void *run(void *arg)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid, i);
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t t[64];

	n = argc > 1 ? atol(argv[1]) : 1;
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return 0;
}
