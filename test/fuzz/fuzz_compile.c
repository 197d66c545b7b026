/*
 * Any text as a D script: it compiles or it is an error, in bounded time and memory. What compiles
 * is printed (-S), written as DOF and read back, and, unless it is destructive, run on the vm
 * engine.
 */
#include <stdlib.h>
#include <string.h>

#include "dtrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ignore(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	(void)h, (void)kind, (void)text, (void)arg;
	return 0;
}

static void run(dtrace_hdl_t *h, dtrace_prog_t *p, FILE *null)
{
	if (dtrace_enable(h, p, NULL) < 0 || dtrace_go(h) < 0)
		return;
	dtrace_work(h, null);
	dtrace_stop(h);
	dtrace_work(h, null);
	dtrace_aggregate_print(h, null);
}

/* system() and freopen() run in the consumer; they need destructive, which a pragma can set. */
static int is_safe(dtrace_hdl_t *h)
{
	uint64_t destructive = 0;

	dtrace_getopt(h, "destructive", &destructive);
	return !destructive;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *const argv[] = {(char *)"fuzz", (char *)"1", (char *)"word", NULL};
	struct dtrace_compile_opts o = {
	    .size = sizeof(o), .argc = 3, .argv = argv, .name = "fuzz.d"};
	dtrace_hdl_t *h = dtrace_open(NULL);
	FILE *in = fmemopen((void *)data, size ? size : 1, "r"), *null = fopen("/dev/null", "w");
	dtrace_prog_t *p = NULL;
	void *dof = NULL;
	size_t n;

	if (!h || !in || !null)
		abort();
	dtrace_handle_diag(h, ignore, NULL);
	dtrace_setopt(h, "engine", "vm");
	dtrace_setopt(h, "zdefs", NULL);
	dtrace_setopt(h, "argref", NULL);
	dtrace_setopt(h, "nolibs", NULL);
	if (size)
		p = dtrace_compile_file(h, in, &o);
	if (p) {
		dtrace_dump(p, null);
		dtrace_stability(p, null);
		dtrace_header(h, p, null);
		if (dtrace_dof_create(h, p, &dof, &n) == 0) {
			dtrace_dof_load(h, dof, n);
			free(dof);
		}
		if (is_safe(h))
			run(h, p, null);
	} else if (size && dtrace_errtext(h)[0] == 0) {
		abort(); /* a failure must say why */
	}
	fclose(in);
	fclose(null);
	dtrace_close(h);
	return 0;
}
