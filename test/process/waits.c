/*
 * waits: a process that does one thing all the time and sees whether anything went wrong; for the tests of getting in and out.
 *
 *   waits KIND FILE     until the file exists
 *
 * It writes how often it did it into shared memory of its own, FILE.count, and ends with 0. KIND:
 *   spin    values in vector registers, in the red zone and in flags stay as they are
 *   sleep   nanosleep() without a handler is never interrupted
 *   poll    nor is poll() with a timeout
 *   wait    nor epoll_wait()
 *   read    nor read() from a pipe that another thread writes
 *   signal  handlers run as often as signals were sent, and see their values
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const char *file;
static volatile long *count;
static int ends[2], waiting;
static volatile sig_atomic_t handled, sum;

static int done(void)
{
	return access(file, F_OK) == 0;
}

static void wrong(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(3);
}

__attribute__((noinline)) long work(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

/* A million turns in which nothing but registers and the red zone hold the state. */
__attribute__((noinline)) static int spin(void)
{
	double a = 1, b = 2, c = 3;
	long n = 300000, bad = 0;

	__asm__ volatile("movq $0x1234, -8(%%rsp)\n\t"
			 "movq $0x5678, -128(%%rsp)\n\t"
			 "std\n"
			 "1:\tmovapd %2, %%xmm5\n\t"
			 "addsd %3, %%xmm5\n\t"
			 "ucomisd %4, %%xmm5\n\t"
			 "jne 2f\n\t"
			 "cmpq $0x1234, -8(%%rsp)\n\t"
			 "jne 2f\n\t"
			 "cmpq $0x5678, -128(%%rsp)\n\t"
			 "jne 2f\n\t"
			 "dec %0\n\t"
			 "jnz 1b\n\t"
			 "jmp 3f\n"
			 "2:\tmov $1, %1\n"
			 "3:\tpushf\n\t"
			 "testq $0x400, (%%rsp)\n\t"
			 "jnz 4f\n\t"
			 "mov $2, %1\n"
			 "4:\tadd $8, %%rsp\n\t"
			 "cld\n\t"
			 : "+r"(n), "+r"(bad)
			 : "x"(a), "x"(b), "x"(c)
			 : "xmm5", "memory", "cc");
	return (int)bad;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	handled = handled + 1;
	sum = sum + info->si_value.sival_int;
}

static void *writer(void *arg)
{
	struct timespec t = {0, 2000000};
	char c = 'x';

	for (;;) {
		nanosleep(&t, NULL);
		if (write(ends[1], &c, 1) != 1)
			return arg;
	}
}

static void turn(char kind)
{
	struct timespec t = {0, 20000000};
	struct epoll_event event;
	struct pollfd p = {.fd = ends[0], .events = POLLIN};
	char c;

	switch (kind) {
	case 'p':
		if (spin())
			wrong("a register has changed");
		break;
	case 'l':
		if (nanosleep(&t, NULL) != 0)
			wrong("nanosleep");
		break;
	case 'o':
		if (poll(&p, 1, 20) != 0)
			wrong("poll");
		break;
	case 'a':
		if (epoll_wait(waiting, &event, 1, 20) != 0)
			wrong("epoll_wait");
		break;
	case 'e':
		if (read(ends[0], &c, 1) != 1 || c != 'x')
			wrong("read");
		break;
	case 'i':
		sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 3});
		sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 4});
		break;
	}
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	static char name[4096];
	pthread_t t;
	int fd;

	if (argc < 3)
		return 2;
	file = argv[2];
	snprintf(name, sizeof(name), "%s.count", file);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(long)) < 0 || pipe(ends) < 0 || (waiting = epoll_create1(0)) < 0)
		wrong(name);
	count = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (strcmp(argv[1], "read") == 0 && pthread_create(&t, NULL, writer, NULL))
		wrong("a thread");
	if (strcmp(argv[1], "signal") == 0 && (sigaction(SIGUSR1, &act, NULL) < 0 || sigaction(SIGRTMIN, &act, NULL) < 0))
		wrong("sigaction");
	while (!done()) {
		turn(argv[1][1]);
		*count = work(*count);
	}
	if (strcmp(argv[1], "signal") == 0 && (handled != 2 * *count || (int)sum != 7 * (int)*count))
		wrong("signals are missing");
	printf("end\n");
	return 0;
}
