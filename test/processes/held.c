/* held: for LD_PRELOAD. dtrace holds a process of -p twice, briefly: when it grabs it (1) and when tracing begins (2). Runs the
 * command in HELD_BEFORE before it does so the HELD_NTHth time, and the one in HELD_DURING before it lets go again;
 * in these, HELD_PID is dtrace. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

static void run(const char *which, int times)
{
	const char *command = getenv(which), *nth = getenv("HELD_NTH");
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("HELD_PID", pid, 1);
	if (command && times == (nth ? atoi(nth) : 1) && system(command) < 0)
		perror(command);
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	static int holds, times;
	void *a[3];
	va_list ap;

	va_start(ap, request);
	for (int i = 0; i < 3; i++)
		a[i] = va_arg(ap, void *);
	va_end(ap);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_SEIZE && !holds++) {
		times++;
		run("HELD_BEFORE", times);
	} else if (request == PTRACE_DETACH && holds) {
		holds = 0;
		run("HELD_DURING", times);
	}
	return real(request, a[0], a[1], a[2]);
}
