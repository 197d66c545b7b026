/*
 * A program that makes a distinct system call in each part of its life: getppid in the initialiser
 * of its library (points-lib.c), getpgid in its own, getuid in main. INIT in the environment makes
 * its initialiser do more.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(9);
}

static void *sleeper(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void on_signal(int sig)
{
	say(sig == SIGUSR1 ? "signal\n" : "?\n");
}

static void fork_one(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) /* it continues, through main */
		return;
	waitpid(child, &status, 0);
	say(status == 0 ? "child is well\n" : "child has died\n");
}

__attribute__((constructor)) static void initialise(void)
{
	const char *init = getenv("INIT");
	pthread_t thread;

	syscall(SYS_getpgid, 0);
	if (!init)
		return;
	unsetenv("INIT");
	if (strcmp(init, "threads") == 0)
		for (int i = 0; i < 3; i++)
			pthread_create(&thread, NULL, sleeper, NULL);
	if (strcmp(init, "fork") == 0)
		fork_one();
	if (strcmp(init, "exec") == 0)
		execl("/proc/self/exe", "again", (char *)NULL);
	if (strcmp(init, "pause") == 0)
		pause();
	if (strcmp(init, "exit") == 0)
		_exit(5);
	if (strcmp(init, "crash") == 0)
		raise(SIGSEGV);
	if (strcmp(init, "signal") == 0) {
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
	}
}

int main(void)
{
	syscall(SYS_getuid);
	say("main\n");
	return 0;
}
