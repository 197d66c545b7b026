/*
 * work: the traced side of bench/kernel.
 *
 *   work ns                     nanoseconds of one getppid(): best of many short chunks
 *   work links                  the same, and which programs were attached to system calls (quiet.h)
 *   work rss command...         peak memory of the command, in KB
 *   work trace N command...     start the tracer with "-p <this process>" (bpftrace: $target is
 *                               replaced by our pid), make N calls when it is ready, stop it, and say
 *                               how long it took and what CPU time it used
 *   work rates FILE command...  the same, but call at higher and higher rates, saying which in the first
 *                               argument of the call; the tracer prints it at the end of a line. Say the
 *                               highest rate of which every record arrived in FILE, and the tracer's CPU
 *                               time per record
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "quiet.h"

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

/* ---- records at a rate ---- */

#define STAGES 14
#define STAGE_NS 4e8
#define FIRST_RATE 25e3 /* per second; each stage has 1.4 times that of the one before */

static double cpu_time(pid_t pid)
{
	char path[300];
	double sum = 0, ns;
	struct dirent *d;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (d = readdir(tasks))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, d->d_name);
		f = d->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (f && fscanf(f, "%lf", &ns) == 1)
			sum += ns;
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

/* The last number of each line says the stage. */
static void count_lines(const char *file, long *stages)
{
	FILE *f = fopen(file, "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		char *p = line + strcspn(line, "\n)");

		while (p > line && p[-1] >= '0' && p[-1] <= '9')
			p--;
		if (*p >= '0' && *p <= '9' && atoi(p) < STAGES + 1)
			stages[atoi(p)]++;
	}
	if (f)
		fclose(f);
}

static long make_calls(int stage, double rate)
{
	double start = now(), next = start;
	long n = 0;

	while (next < start + STAGE_NS && now() < start + 2 * STAGE_NS) {
		while (now() < next)
			;
		syscall(SYS_getppid, stage);
		next += 1e9 / rate;
		n++;
	}
	return n;
}

static int find_rate(const char *file, char **command)
{
	double rate = FIRST_RATE, real[STAGES + 1] = {0}, cpu[STAGES + 2] = {0}, spent = 0;
	long made[STAGES + 1] = {0}, arrived[STAGES + 1] = {0}, records = 0;
	struct stat st = {0};
	int stage, best = 0;
	pid_t pid;

	for (int i = 1; command[i]; i++)
		command[i] = with_pid(command[i]);
	pid = fork();
	if (pid == 0) {
		freopen(file, "w", stdout);
		execvp(command[0], command);
		_exit(127);
	}
	for (int i = 0; i < 1000 && (stat(file, &st) < 0 || st.st_size < 100); i++) {
		syscall(SYS_getppid, 0); /* until it is seen */
		usleep(10000);
	}
	sleep(1);
	for (stage = 1; stage <= STAGES; stage++, rate *= 1.4) {
		double start = now();

		cpu[stage] = cpu_time(pid);
		made[stage] = make_calls(stage, rate);
		real[stage] = made[stage] / (now() - start) * 1e9;
		usleep(1200000); /* whatever the tracer holds back is out */
	}
	cpu[stage] = cpu_time(pid);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	count_lines(file, arrived);
	for (stage = 1; stage <= STAGES && made[stage] && arrived[stage] == made[stage]; stage++) {
		best = real[stage] > real[best] ? stage : best;
		records += made[stage];
		spent += cpu[stage + 1] - cpu[stage];
	}
	printf("%.0f/s without drops, %.0f ns of CPU each\n", real[best],
	       records ? spent / records : 0);
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
	if (argc > 3 && strcmp(argv[1], "rates") == 0)
		return find_rate(argv[2], argv + 3);
	if (argc > 1 && strcmp(argv[1], "links") == 0)
		return quiet_print();
	return time_calls();
}
