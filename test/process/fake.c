/*
 * fake: a library for LD_PRELOAD with which dtrace finds a machine that is not this one.
 *
 *   FAKE_SHADOW=1     threads have shadow stacks
 *   FAKE_OVERCOMMIT=FILE   is read in place of /proc/sys/vm/overcommit_memory
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#define SHADOW 0x204 /* NT_X86_SHSTK */

long ptrace(enum __ptrace_request how, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	va_list list;
	pid_t pid;
	void *a, *b;

	va_start(list, how);
	pid = va_arg(list, pid_t);
	a = va_arg(list, void *);
	b = va_arg(list, void *);
	va_end(list);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	return how == PTRACE_GETREGSET && a == (void *)SHADOW && getenv("FAKE_SHADOW") ? 0 : real(how, pid, a, b);
}

static const char *instead(const char *path)
{
	const char *file = getenv("FAKE_OVERCOMMIT");

	return file && strcmp(path, "/proc/sys/vm/overcommit_memory") == 0 ? file : path;
}

int openat(int dir, const char *path, int flags, ...)
{
	static int (*real)(int, const char *, int, ...);
	va_list list;
	mode_t mode;

	va_start(list, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	if (!real)
		real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	return real(dir, instead(path), flags, mode);
}

int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
