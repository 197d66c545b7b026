/* turns ROUNDS CALLS: two threads at a time take turns on one CPU, each making CALLS of getppid(), and end. In every second
 * round they are the first threads of two processes. Prints "T pid tid CALLS" for each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls;

static void *work(void *unused)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "T %d %d %d\n", (int)getpid(), (int)syscall(SYS_gettid), calls);

	for (int i = 0; i < calls; i++) {
		syscall(SYS_getppid);
		sched_yield();
	}
	if (write(1, line, (size_t)n) != n)
		exit(1);
	return unused;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0;
	cpu_set_t one;
	int cpu = sched_getcpu();

	calls = argc > 2 ? atoi(argv[2]) : 0;
	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int r = 0; r < rounds; r++) {
		pthread_t t[2];

		for (int i = 0; i < 2; i++) {
			if (r % 2 == 0) {
				if (pthread_create(&t[i], NULL, work, NULL) != 0)
					return 1;
			} else if (fork() == 0) {
				work(NULL);
				_exit(0);
			}
		}
		for (int i = 0; i < 2; i++) {
			if (r % 2 == 0)
				pthread_join(t[i], NULL);
			else
				wait(NULL);
		}
	}
	return 0;
}
