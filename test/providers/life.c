/*
 * life: a known number of forks, execs, threads, signals, faults and exits, for the tests of proc.
 *
 *	life		do it all (below), print nothing
 *	life STATUS	end at once with this status
 *
 * Counts, without the exec that starts it: see main().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self;
static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
}

static void *thread(void *arg)
{
	return arg;
}

static int child(void (*f)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		f();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void exec_good(void)
{
	execl(self, self, "7", (char *)NULL);
}

static void exec_bad(void)
{
	execl("/nonexistent/life", "life", (char *)NULL); /* ENOENT */
	execl("/", "life", (char *)NULL);		  /* EACCES */
	_exit(3);
}

static void die_segv(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void die_bus(void)
{
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("life", 0);

	p = mmap(p, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0); /* the file is empty */
	*(volatile char *)p;
}

static void die_fpe(void)
{
	volatile int one = 1, zero = 0;

	zero = one / zero;
	kill(getpid(), SIGFPE); /* on many CPUs that is no fault */
}

static void die_ill(void)
{
#ifdef __x86_64__
	__asm__ volatile("ud2");
#else
	__asm__ volatile(".word 0"); /* aarch64, riscv64 */
#endif
}

static void die_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void die_threads(void)
{
	pthread_t t;

	pthread_create(&t, NULL, (void *(*)(void *))(void *)pause, NULL);
	_exit(5); /* with another thread: the process ends once */
}

static void wait_signal(void)
{
	union sigval v = {.sival_int = 42};
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigqueue(getpid(), SIGUSR2, v);
	sigwaitinfo(&set, &info);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	pthread_t t;

	if (argc > 1)
		return atoi(argv[1]);
	self = argv[0];
	/* 4 children that fork and exec: 4 creates, 4 starts, 4 execs, 4 successes, 4 exits with 7 */
	for (int i = 0; i < 4; i++)
		child(exec_good);
	/* 2 children with 2 failures each */
	for (int i = 0; i < 2; i++)
		child(exec_bad);
	/* one each killed by a fault, and one by a signal */
	child(die_segv);
	child(die_bus);
	child(die_fpe);
	child(die_ill);
	child(die_kill);
	child(die_threads);
	/* 5 threads, one after the other */
	for (int i = 0; i < 5; i++) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	/* 6 signals handled, 3 ignored, 1 waited for */
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 6; i++)
		kill(getpid(), SIGUSR1);
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 3; i++)
		kill(getpid(), SIGHUP);
	wait_signal();
	return handled == 6 ? 0 : 1;
}
