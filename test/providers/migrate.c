/* Threads that compete for the CPUs while they are moved between them. Each makes system call getppid, spins, and makes getpgid. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 5

static volatile int done, ready;

static void *spin(void *arg)
{
	(void)arg;
	__sync_fetch_and_add(&ready, 1);
	while (ready < THREADS)
		sched_yield();
	syscall(SYS_getppid);
	while (!done)
		;
	syscall(SYS_getpgid, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	int moves = argc > 1 ? atoi(argv[1]) : 100;
	struct sched_param p = {.sched_priority = 1};
	pthread_t t[THREADS];

	sched_setscheduler(0, SCHED_FIFO, &p); /* the mover must not wait */
	for (int i = 0; i < THREADS; i++) {
		pthread_attr_t a;
		struct sched_param normal = {0};

		pthread_attr_init(&a);
		pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&a, SCHED_OTHER);
		pthread_attr_setschedparam(&a, &normal);
		if (pthread_create(&t[i], &a, spin, NULL))
			return 2;
	}
	for (int n = 0; n < moves; n++) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		for (int i = 0; i < THREADS; i++) {
			cpu_set_t s;

			CPU_ZERO(&s);
			CPU_SET((i + n) % 2, &s);
			pthread_setaffinity_np(t[i], sizeof(s), &s);
		}
	}
	done = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
