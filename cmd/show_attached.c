/*
 * show_attached: --attach: which durable sessions there are, and the output of one.
 */
#include <inttypes.h>

#include "args.h"

#define WAIT_MS 500

static void show_head(void)
{
	printf("%-16s %-20s %-8s %6s %12s %12s %8s %10s %s\n", "MACHINE", "SESSION", "STATE", "STARTS", "BYTES", "REMOVED", "DROPS",
	       "LOST", "WHY");
}

/* arg: a head is printed before the first one, if it is not NULL. */
static int show_session(dtrace_hdl_t *h, const struct dtrace_session *s, void *arg)
{
	bool *first = arg;

	(void)h;
	if (first && *first) {
		printf("\n");
		show_head();
		*first = false;
	}
	printf("%-16s %-20s %-8s %6" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRIu64 " %10" PRIu64 "%s%s\n", s->machine, s->name,
	       s->state, s->starts, s->bytes, s->removed + s->unsent, s->drops, s->lost, *s->why ? " " : "", s->why);
	return 0;
}

int show_sessions_if_any(dtrace_hdl_t *h)
{
	bool first = true;

	return dtrace_session_iter(h, show_session, &first) < 0 ? EXIT_FATAL : 0;
}

int show_sessions(dtrace_hdl_t *h)
{
	show_head();
	return dtrace_session_iter(h, show_session, NULL) < 0 ? EXIT_FATAL : 0;
}

int show_attached(dtrace_hdl_t *h, const struct args *a, FILE *out, bool (*interrupted)(void))
{
	enum dtrace_work_status st = DTRACE_WORK_OKAY;
	uint64_t format = 0;

	if (dtrace_attach(h, a->attach, a->from_start) < 0)
		fatal_handle(h, "cannot attach to %s", a->attach);
	while (st == DTRACE_WORK_OKAY && !interrupted()) {
		st = dtrace_attach_work(h, out, WAIT_MS);
		fflush(out);
	}
	dtrace_getopt(h, "oformat", &format);
	if (st == DTRACE_WORK_OKAY && !format)
		fputc('\n', out); /* after the terminal's ^C */
	if (st == DTRACE_WORK_ERROR || dtrace_attach_end(h, out) < 0)
		fatal_handle(h, "processing aborted");
	return 0;
}
