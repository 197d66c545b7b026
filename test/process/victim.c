/*
 * victim: a program with functions to trace, for the tests of the process engine.
 *
 *   victim [-t THREADS] [-n ROUNDS] [-s] [-j] [-f] [-v] [-w FILE]
 *
 * Each thread calls work() ROUNDS times (0: until FILE, of -w, exists), and the program prints how often that was, and a sum
 * of the results that does not depend on anything else.
 *   -s  a timer interrupts, and the handler calls handled(), which is to be traced as well
 *   -j  the handler leaves by siglongjmp()
 *   -f  fork a child that calls work() 100 times, after the threads have started
 *   -v  vfork and exec true(1)
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long rounds = 1000;
static const char *file;
static volatile long handlings;
static volatile int jumps; /* there is a place to jump to */
static sigjmp_buf back;

__attribute__((noinline)) long work(long a, const char *text, long c, long d, long e, long f, long g)
{
	__asm__ volatile("" ::: "memory");
	return a * 3 + text[0] + c - d + e - f + g;
}

__attribute__((noinline)) long handled(long a)
{
	__asm__ volatile("" ::: "memory");
	return handlings + a;
}

__attribute__((noinline)) long once(long a)
{
	__asm__ volatile("" ::: "memory");
	return handlings + a;
}

static void on_alarm(int sig)
{
	handlings = handled(sig - sig + 1);
	if (jumps)
		siglongjmp(back, 1);
}

static void *thread(void *arg)
{
	long n = 0, sum = 0;

	(void)arg;
	while (rounds ? n < rounds : n % 1000 || access(file, F_OK) != 0) {
		sum += work(n & 1, "text", 3, 4, 5, 6, 7) == (n & 1) * 3 + 't' + 5;
		n++;
	}
	return (void *)(n == sum ? n : -1);
}

/* From whatever place it is interrupted at, 200 times. */
static void jump(void)
{
	static volatile int turns;

	if (sigsetjmp(back, 1) == 0 || turns < 200)
		for (turns++, jumps = 1;;)
			if (work(1, "text", 3, 4, 5, 6, 7) != 3 + 't' + 5)
				exit(3);
	jumps = 0;
}

static void start_timer(void)
{
	struct itimerval every = {{0, 300}, {0, 300}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void children(int forks, int vforks)
{
	static int status;
	static pid_t pid;

	if (forks) {
		pid = fork();
		if (pid == 0) {
			long n = 0;

			for (int i = 0; i < 100; i++)
				n += work(1, "text", 3, 4, 5, 6, 7);
			_exit(n == 100 * (3 + 't' + 5) ? 7 : 8);
		}
		waitpid(pid, &status, 0);
		printf("child %d\n", WEXITSTATUS(status));
	}
	if (vforks) {
		pid = vfork();
		if (pid == 0) {
			execlp("true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, &status, 0);
		printf("command %d\n", WEXITSTATUS(status));
	}
}

int main(int argc, char **argv)
{
	int n = 1, c, signals = 0, leaves = 0, forks = 0, vforks = 0;
	pthread_t threads[64];
	long all;
	void *result;

	while ((c = getopt(argc, argv, "t:n:sjfvw:")) > 0)
		switch (c) {
		case 't': n = atoi(optarg); break;
		case 'n': rounds = atol(optarg); break;
		case 's': signals = 1; break;
		case 'j': signals = leaves = 1; break;
		case 'f': forks = 1; break;
		case 'v': vforks = 1; break;
		case 'w': file = optarg; rounds = 0; break;
		default: return 2;
		}
	if (signals)
		start_timer();
	if (leaves)
		jump();
	once(1);
	for (int i = 1; i < n; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	children(forks, vforks);
	all = (long)thread(NULL);
	for (int i = 1; i < n; i++) {
		pthread_join(threads[i], &result);
		all += (long)result;
	}
	printf("calls %ld\n", all);
	return 0;
}
