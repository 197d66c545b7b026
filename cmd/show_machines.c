/*
 * show_machines: -M, and -l with -E: what there is on all machines.
 */
#include <inttypes.h>

#include "args.h"

static int show_machine(dtrace_hdl_t *h, const struct dtrace_machine *m, void *arg)
{
	(void)h;
	(void)arg;
	printf("%-20s %-28s %4u %8" PRIu64 " %s\n", m->name, m->os, m->ncpus, m->uncertainty / 1000, m->version);
	return 0;
}

int show_machines(dtrace_hdl_t *h)
{
	printf("%-20s %-28s %4s %8s %s\n", "MACHINE", "OS", "CPUS", "CLOCK+-", "VERSION");
	return dtrace_machine_iter(h, show_machine, NULL) < 0 ? EXIT_FATAL : show_sessions_if_any(h);
}

static int list_probe(dtrace_hdl_t *h, const char *machine, const struct dtrace_probeinfo *p, void *arg)
{
	(void)h;
	fprintf(arg, "%-15s %5u %10s %17s %33s %s\n", machine, p->id, p->provider, p->module, p->function, p->name);
	return 0;
}

/* A program is only its description here: what it does may need another machine to be compiled. */
int list_machines(dtrace_hdl_t *h, const struct args *a, FILE *out)
{
	int status = 0;

	fprintf(out, "%-15s %5s %10s %17s %33s %s\n", "MACHINE", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	for (int i = 0; i < (a->nprograms ? a->nprograms : 1); i++) {
		const struct program *p = a->nprograms ? &a->programs[i] : NULL;

		if (p && p->is_file)
			fatal("-E -l takes descriptions, not scripts");
		if (dtrace_machine_probes(h, p ? p->name : NULL, p ? p->spec : DTRACE_SPEC_NAME, list_probe, out) == 0)
			continue;
		complain("failed to list probes: %s", dtrace_errtext(h));
		status = EXIT_FATAL;
	}
	return fflush(out) == EOF ? EXIT_FATAL : status;
}
