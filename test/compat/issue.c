/*
 * issue WHAT: a load for each example. java: a thread with a name of its own makes five calls. interrupt: a signal ends a
 * read(), and the program says what it got. long: writes a string of 60,000 characters.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static char text[60001];

static void *work(void *arg)
{
	prctl(PR_SET_NAME, "GC Thread#0");
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
	return arg;
}

static int java(void)
{
	pthread_t t;

	syscall(SYS_getppid);
	return pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL);
}

static void nothing(int sig)
{
	(void)sig;
}

static int interrupt(void)
{
	struct sigaction act = {.sa_handler = nothing};
	/* again and again: the first may come before the read() */
	struct itimerval soon = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000};
	int fd[2];

	sigaction(SIGALRM, &act, NULL);
	if (pipe(fd) || setitimer(ITIMER_REAL, &soon, NULL))
		return 1;
	if (read(fd[0], text, 1) == -1)
		printf("%s\n", errno == EINTR ? "EINTR" : strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "java") == 0)
		return java();
	if (strcmp(what, "interrupt") == 0)
		return interrupt();
	memset(text, 'x', sizeof(text) - 1);
	return write(-1, text, sizeof(text)) != -1;
}
