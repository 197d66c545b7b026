/*
 * threads FILE [N]: N threads, and more that come and go; what they have done is counted in a file.
 * It ends on a signal (SIGTERM: status 0; SIGUSR1: status 7).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile unsigned long count;

static void *work(void *arg)
{
	prctl(PR_SET_NAME, "Tgid:5"); /* what /proc says of a thread must not be taken from its name */
	for (;;) {
		__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
		usleep(arg ? 500 : 1000);
	}
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void end(int sig)
{
	_exit(sig == SIGUSR1 ? 7 : 0);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 4,
	    fd = open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0666);
	pthread_t thread;

	signal(SIGTERM, end);
	signal(SIGUSR1, end);
	for (int i = 0; i < n; i++)
		pthread_create(&thread, NULL, work, i % 2 ? &thread : NULL);
	for (;;) {
		char text[32];
		int len = snprintf(text, sizeof(text), "%20lu\n", count);

		if (fd < 0 || pwrite(fd, text, (size_t)len, 0) != len)
			return 9;
		pthread_create(&thread, NULL, nothing, NULL);
		pthread_join(thread, NULL);
		usleep(1000);
	}
}
