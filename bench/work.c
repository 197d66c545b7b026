/*
 * work: the traced side of bench/kernel.
 *
 *   work ns                     nanoseconds of one getppid(): best of many short chunks
 *   work rss command...         peak memory of the command, in KB
 *   work trace N command...     start the tracer with "-p <this process>" (bpftrace: $target is
 *                               replaced by our pid), make N calls when it is ready, stop it, and say
 *                               how long it took and what CPU time it used
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int time_calls(void)
{
	double best = 1e9;

	for (int chunk = 0; chunk < 400; chunk++) {
		double t = now();
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		t = (now() - t) / 1000;
		if (t < best)
			best = t;
	}
	printf("%.1f\n", best);
	return 0;
}

static char *with_pid(const char *s)
{
	const char *at = strstr(s, "$target");
	char *out = malloc(strlen(s) + 32);

	if (!at)
		return strcpy(out, s);
	sprintf(out, "%.*s%d%s", (int)(at - s), s, (int)getpid(), at + 7);
	return out;
}

static int trace(long n, char **command)
{
	struct rusage ru;
	double start, made, ended;
	pid_t pid;

	for (int i = 1; command[i]; i++)
		command[i] = with_pid(command[i]);
	pid = fork();
	if (pid == 0) {
		freopen("/dev/null", "w", stdout);
		execvp(command[0], command);
		_exit(127);
	}
	sleep(2);
	start = now();
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	made = now();
	kill(pid, SIGTERM);
	wait4(pid, NULL, 0, &ru);
	ended = now();
	printf("%.0f ms after the last call, made at %.2f us each, %.0f ns of consumer CPU each\n",
	       (ended - made) / 1e6, (made - start) / 1e3 / n,
	       (ru.ru_utime.tv_sec * 1e9 + ru.ru_utime.tv_usec * 1e3 + ru.ru_stime.tv_sec * 1e9 +
		ru.ru_stime.tv_usec * 1e3) / n);
	return 0;
}

static int peak_memory(char **command)
{
	struct rusage ru;
	pid_t pid = fork();

	if (pid == 0) {
		freopen("/dev/null", "w", stdout);
		freopen("/dev/null", "w", stderr);
		execvp(command[0], command);
		_exit(127);
	}
	wait4(pid, NULL, 0, &ru);
	printf("%ld\n", ru.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "rss") == 0)
		return peak_memory(argv + 2);
	if (argc > 3 && strcmp(argv[1], "trace") == 0)
		return trace(atol(argv[2]), argv + 3);
	return time_calls();
}
