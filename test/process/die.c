/*
 * die: a library for LD_PRELOAD that kills dtrace between two steps of getting in or out. A step is a ptrace() or a write to the
 * memory of another process.
 *
 *   DIE_AT=N         kill dtrace after its step N; DIE_KEEPER_AT=N: kill dtrace-keeper after its own step N
 *   DIE_BOTH=1       with DIE_AT: kill the keeper first
 *   DIE_NOTE=FILE    exists once one was killed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

static int steps; /* of each process */

static int is_keeper(void)
{
	char name[32] = "";

	prctl(PR_GET_NAME, name);
	return strcmp(name, "dtrace-keeper") == 0;
}

static void kill_keeper(void)
{
	char line[64], path[64], name[32] = "";
	long pid;
	FILE *f, *c;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	while (f && fscanf(f, "%60s", line) == 1) {
		pid = strtol(line, NULL, 10);
		snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
		c = fopen(path, "r");
		if (c && fgets(name, sizeof(name), c) && strcmp(name, "dtrace-keeper\n") == 0)
			kill((pid_t)pid, SIGKILL);
		if (c)
			fclose(c);
	}
	if (f)
		fclose(f);
}

static void step(void)
{
	const char *at = getenv(is_keeper() ? "DIE_KEEPER_AT" : "DIE_AT"), *file = getenv("DIE_NOTE");
	FILE *f;

	if (!at || ++steps != atoi(at))
		return;
	f = file ? fopen(file, "w") : NULL;
	if (f)
		fclose(f);
	if (getenv("DIE_BOTH"))
		kill_keeper();
	kill(getpid(), SIGKILL);
}

long ptrace(enum __ptrace_request how, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	va_list list;
	long pid, rc;
	void *a, *b;

	va_start(list, how);
	pid = va_arg(list, long);
	a = va_arg(list, void *);
	b = va_arg(list, void *);
	va_end(list);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	rc = real(how, (pid_t)pid, a, b);
	step();
	return rc;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);
	ssize_t rc;

	if (!real)
		real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	rc = real(fd, p, n, at);
	step();
	return rc;
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at) __attribute__((alias("pwrite")));
