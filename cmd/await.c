/*
 * await: -W, the next process of a name.
 *
 * A trace of its own, before that of the user: the kernel stops the process when its exec has succeeded, before its first
 * instruction, and reports its pid. Should others of this name begin before the trace has ended, they are continued.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"

static const char program[] = "proc:::exec-success /execname == $$1/ { stop(); printf(\"%d\\n\", pid); exit(0); }";

enum { NAME_MAX_KERNEL = 15 }; /* execname has no more */

/* The signal acts when the process returns to user mode, which may be after the report. */
static void wait_until_stopped(long pid)
{
	char path[64], text[512], state = 0, *name_end;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	for (int i = 0; i < 1000 && state != 'T' && state != 't'; i++) {
		FILE *f = fopen(path, "re");

		if (!f)
			return;
		name_end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		state = name_end && name_end[1] ? name_end[2] : 0;
		fclose(f);
		if (state != 'T' && state != 't')
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* Run the trace to its end; its output is in *pids. */
static void run(dtrace_hdl_t *h, char *name, char **pids)
{
	struct dtrace_compile_opts o = {.size = sizeof(o), .spec = DTRACE_SPEC_NAME, .argc = 2, .argv = (char *[]){"dtrace", name}};
	dtrace_prog_t *prog;
	size_t size = 0;
	FILE *out = open_memstream(pids, &size);

	if (!out)
		fatal("out of memory");
	dtrace_setopt(h, "quiet", NULL);
	dtrace_setopt(h, "destructive", NULL);
	dtrace_setopt(h, "bufsize", "64k");
	prog = dtrace_compile_string(h, program, &o);
	if (!prog || dtrace_enable(h, prog, NULL) < 0 || dtrace_set_output(h, out) < 0 || dtrace_go(h) < 0)
		fatal_handle(h, "failed to wait for %s", name);
	while (dtrace_work(h, out) == DTRACE_WORK_OKAY)
		dtrace_sleep(h);
	if (dtrace_stop(h) < 0 || dtrace_work(h, out) == DTRACE_WORK_ERROR)
		fatal_handle(h, "failed to wait for %s", name);
	fclose(out);
}

long await_process(const char *name)
{
	char cut[NAME_MAX_KERNEL + 1], *pids = NULL, *next;
	int error = 0;
	dtrace_hdl_t *h = dtrace_open(&(struct dtrace_open_opts){.size = sizeof(struct dtrace_open_opts), .error = &error});
	long first = 0, pid;

	if (!h)
		fatal("failed to initialize dtrace: %s", strerror(error));
	snprintf(cut, sizeof(cut), "%s", name);
	run(h, cut, &pids);
	dtrace_close(h);
	for (char *p = pids; (pid = strtol(p, &next, 10)) > 0; p = next) {
		wait_until_stopped(pid);
		if (!first)
			first = pid;
		else
			kill((pid_t)pid, SIGCONT);
	}
	free(pids);
	if (!first)
		fatal("failed to wait for %s: its process is not known", name);
	return first;
}
