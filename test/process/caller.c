/*
 * caller: a program that makes system calls, for the tests of the process engine.
 *
 *   caller FILE
 *
 * Three threads, each 1000 times getppid(), 10 times write() of 7 bytes and read() of them; 5 times open() of a file that is
 * not there; 50 times syscall(SYS_getpgrp). Another thread is in read() on an empty pipe from the beginning, and gets its byte when
 * all is done. It begins when FILE exists, and says "ready" before.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int idle[2];
static long wrong;

static void check(int ok)
{
	if (!ok)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void *thread(void *arg)
{
	int pipes[2];
	char text[8];
	pid_t parent = getppid();

	check(pipe(pipes) == 0);
	for (int i = 1; i < 1000; i++)
		check(getppid() == parent);
	for (int i = 0; i < 10; i++)
		check(write(pipes[1], "1234567", 7) == 7 && read(pipes[0], text, 7) == 7);
	for (int i = 0; i < 5; i++)
		check(open("/there/is/none", O_RDONLY) < 0);
	for (int i = 0; i < 50; i++)
		check(syscall(SYS_getpgrp) > 0);
	return arg;
}

static void *waiting(void *arg)
{
	char c;

	check(read(idle[0], &c, 1) == 1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[2], w;

	if (argc < 2 || pipe(idle) < 0)
		return 2;
	pthread_create(&w, NULL, waiting, NULL);
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK) != 0)
		usleep(1000);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	thread(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	check(write(idle[1], "x", 1) == 1);
	pthread_join(w, NULL);
	printf("wrong %ld\n", wrong);
	return 0;
}
