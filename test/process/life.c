/*
 * life: a program that makes threads and processes, runs others, and ends, for the tests of proc in the process engine.
 *
 *   life HOW     10 threads, one after the other, 3 processes by fork(), 2 by vfork(), one program that is not there; then HOW:
 *                return: from main, with 2;  kill: by SIGKILL;  exec: becomes a shell that exits with 3;  thread: the first thread
 *                ends, then the other one;  wait FILE: until it exists
 *   life churn N N threads, one after the other, each of which calls work()
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;

__attribute__((noinline)) long work(long n)
{
	sum += n;
	return sum * 3 + n;
}

static void *thread(void *arg)
{
	work((long)arg);
	return arg;
}

static void *last_thread(void *arg)
{
	usleep(20000);
	return arg;
}

static void threads(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_t t;

		pthread_create(&t, NULL, thread, (void *)1);
		pthread_join(t, NULL);
	}
}

static void children(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	for (int i = 0; i < 2; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl("/there/is/nothing", "nothing", NULL);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	pthread_t t;

	if (strcmp(how, "churn") == 0) {
		threads(atol(argv[2]));
		printf("%ld\n", sum);
		return 0;
	}
	threads(10);
	children();
	execl("/there/is/none", "none", NULL);
	puts("ready");
	fflush(stdout);
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "exec") == 0)
		execl("/bin/sh", "sh", "-c", "sleep 0.1; exit 3", NULL);
	while (strcmp(how, "wait") == 0 && access(argv[2], F_OK) != 0)
		usleep(1000);
	if (strcmp(how, "thread") == 0) {
		pthread_create(&t, NULL, last_thread, NULL);
		pthread_exit(NULL);
	}
	return 2;
}
