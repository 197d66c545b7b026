/*
 * diag_shedding: tells what an engine leaves out to keep the budget of option overhead, each time that changes.
 */
#include <stdlib.h>

#include "consume/writer.h"

/* A percentage of parts per million: 2, 0.5, 0.0001 */
static void put_percent(dt_buf *out, uint64_t ppm)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu.%04llu", (unsigned long long)(ppm / 10000), (unsigned long long)(ppm % 10000));

	while (n > 0 && text[n - 1] == '0')
		n--;
	dt_buf_printf(out, "%.*s%%", text[n - 1] == '.' ? n - 1 : n, text);
}

static int tell(const struct dt_losses_to *to, const struct dt_shedding *s, const char *what)
{
	dt_diag d = {.kind = DT_DIAG_COST};
	dt_buf b = {0};
	int rc;

	dt_buf_puts(&b, "overhead is ");
	put_percent(&b, s->cost);
	if (s->cost > s->limit) {
		dt_buf_puts(&b, ", above ");
		put_percent(&b, s->limit);
	}
	dt_buf_printf(&b, ": %s", what);
	d.text = b.s;
	rc = to->tell(to->arg, &d);
	dt_buf_free(&b);
	return rc;
}

static int tell_number(const struct dt_losses_to *to, const struct dt_shedding *s, uint32_t n, const char *one, const char *many)
{
	dt_buf b = {0};
	int rc;

	dt_buf_printf(&b, n == 1 ? one : many, n, n);
	rc = tell(to, s, b.s);
	dt_buf_free(&b);
	return rc;
}

int dt_shedding_report(struct dt_shedding *told, const struct dt_shedding *now, const struct dt_losses_to *to)
{
	struct dt_shedding old = *told;
	int rc = 0;

	*told = *now;
	if (now->quiet != old.quiet)
		rc = tell(to, now, now->quiet ? "printing clauses are off" : "printing clauses are on again");
	if (rc == 0 && now->rate != (old.rate ? old.rate : 1))
		rc = tell_number(to, now, now->rate, "profile probes fire at their full rates again",
				 "profile probes fire at 1/%u of their rates");
	if (rc == 0 && now->sample != (old.sample ? old.sample : 1))
		rc = tell_number(to, now, now->sample, "aggregating clauses run at every firing again",
				 "aggregating clauses run at 1 of %u firings, which counts as %u");
	if (rc == 0 && now->ended && !old.ended)
		rc = tell(to, now, "nothing is left to leave out, so tracing ends");
	return rc;
}
