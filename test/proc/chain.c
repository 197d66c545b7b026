/*
 * chain: ten functions, each called by the one before, none of which keeps a frame pointer or can be
 * inlined; the last one makes a system call that nobody else makes (getppid). How it is reached:
 *
 *	chain plain N		N times from main
 *	chain qsort N		from the comparison of a qsort() in libc
 *	chain signal N		from a signal handler, raised in the middle of the chain
 *	chain altstack N	the same on a stack of its own
 *	chain thread N		in a thread
 *	chain fork N		in N children, one after the other, without exec
 *	chain aligned N		from a function that aligns its stack
 *	chain busy N		N times a million rounds of arithmetic, for the clock
 *	chain wait		from main, then sleeps in pause() at the end of the chain until a signal ends it
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static int raise_in, wait_for_signal, rounds;
volatile long sink;

/* What every function does with its frame: some room on the stack, and a use of it behind the call. */
#define LINK(name, next, room)                                                                                         \
	FAR long name(long n)                                                                                          \
	{                                                                                                              \
		volatile long place[room];                                                                             \
                                                                                                                       \
		place[room - 1] = n;                                                                                   \
		sink += next(n + 1);                                                                                   \
		return place[room - 1] + sink;                                                                         \
	}

FAR long last(long n)
{
	if (raise_in) {
		raise_in = 0;
		raise(SIGUSR1);
	} else if (wait_for_signal) {
		pause();
	} else if (rounds) {
		for (long i = 0; i < 1000000; i++)
			sink += i * n;
	} else {
		sink += getppid();
	}
	return sink + n;
}
LINK(link9, last, 1)
LINK(link8, link9, 3)
LINK(link7, link8, 40)
LINK(link6, link7, 2)
LINK(link5, link6, 5000)
LINK(link4, link5, 7)
LINK(link3, link4, 1)
LINK(link2, link3, 11)
FAR long link1(long n)
{
	sink += link2(n + 1);
	return sink;
}

/* With arguments on the stack besides, the compiler needs a second register to find its caller's frame. */
FAR long aligned(long n, long b, long c, long d, long e, long f, long g, long h)
{
	char place[64] __attribute__((aligned(64)));

	memset(place, (int)n, sizeof(place));
	__asm__ volatile("" : : "r"(place) : "memory");
	sink += link1(n);
	return place[n & 63] + b + c + d + e + f + g + h;
}

FAR int compare(const void *a, const void *b)
{
	sink += link1(*(const long *)a - *(const long *)b);
	return (int)(sink & 1);
}

FAR void handler(int sig)
{
	sink += link1(sig);
}

FAR void *thread(void *arg)
{
	for (long i = (long)arg; i; i--)
		sink += link1(i);
	return NULL;
}

static void on_signal(int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};
	stack_t st = {.ss_sp = malloc(65536), .ss_size = 65536};

	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &sa, NULL);
}

FAR static void run(const char *how, long n)
{
	long pair[2] = {2, 1};
	pthread_t t;

	if (strcmp(how, "thread") == 0) {
		pthread_create(&t, NULL, thread, (void *)n);
		pthread_join(t, NULL);
		return;
	}
	for (long i = 0; i < n; i++) {
		if (strcmp(how, "qsort") == 0) {
			qsort(pair, 2, sizeof(pair[0]), compare);
		} else if (strcmp(how, "signal") == 0 || strcmp(how, "altstack") == 0) {
			on_signal(*how == 'a' ? SA_ONSTACK : 0);
			raise_in = 1;
			link1(i);
		} else if (strcmp(how, "fork") == 0) {
			if (fork() == 0) {
				link1(i);
				_exit(0);
			}
			wait(NULL);
		} else if (strcmp(how, "aligned") == 0) {
			sink += aligned(i, 1, 2, 3, 4, 5, 6, 7);
		} else {
			rounds = strcmp(how, "busy") == 0;
			wait_for_signal = strcmp(how, "wait") == 0;
			link1(i);
		}
	}
}

int main(int argc, char **argv)
{
	run(argc > 1 ? argv[1] : "plain", argc > 2 ? atol(argv[2]) : 1);
	return 0;
}
