/*
 * diag: messages about losses of every kind, in DTrace's words.
 *
 * Engines count losses since the start; a loss is reported as the difference to the last report.
 * Each kind is a row of one table, in the order of DTrace's numbers for them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "consume/writer.h"

#define NSEC 1000000000

/* %s stands for the plural's s, at most twice. */
static const struct loss {
	const char *tag, *text;
	size_t offset; /* in dt_status */
	bool per_cpu;
} losses[] = {
    {"PRINCIPAL", "drop%s", offsetof(dt_status, drops), true},
    {"AGGREGATION", "aggregation drop%s", offsetof(dt_status, agg_drops), true},
    {"DYNAMIC", "dynamic variable drop%s", offsetof(dt_status, dyn_drops), false},
    {"DYNRINSE", "dynamic variable drop%s with non-empty rinsing list",
     offsetof(dt_status, dyn_rinse_drops), false},
    {"DYNDIRTY", "dynamic variable drop%s with non-empty dirty list",
     offsetof(dt_status, dyn_dirty_drops), false},
    {"SPEC", "speculative drop%s", offsetof(dt_status, spec_drops), false},
    {"SPECBUSY", "failed speculation%s (available buffer%s still busy)",
     offsetof(dt_status, spec_busy), false},
    {"SPECUNAVAIL", "failed speculation%s (no speculative buffer available)",
     offsetof(dt_status, spec_unavail), false},
    {"STKSTROVERFLOW", "jstack()/ustack() string table overflow%s",
     offsetof(dt_status, stack_overflows), false},
    {"DBLERROR", "error%s in ERROR probe enabling", offsetof(dt_status, dbl_errors), false},
    {"SHEDPRINTING", "firing%s of printing clauses left out (option overhead)",
     offsetof(dt_status, shed_printing), false},
    {"SHEDSAMPLED", "firing%s of aggregating clauses left out, for which others count (option overhead)",
     offsetof(dt_status, shed_sampled), false},
};

struct untold { /* of one kind */
	uint64_t n, total;
	DT_VEC(bool) cpus; /* where */
};

struct dt_losses {
	DT_VEC(uint64_t) seen[DT_NELEM(losses)]; /* per CPU, or one */
	struct untold untold[DT_NELEM(losses)];
	uint64_t told;	/* when */
	bool explained; /* faults because of absent memory */
	bool told_stops;
	struct dt_shedding shedding;
};

dt_losses *dt_losses_new(void)
{
	return dt_xcalloc(1, sizeof(dt_losses));
}

void dt_losses_free(dt_losses *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < DT_NELEM(losses); i++) {
		dt_vec_free(&l->seen[i]);
		dt_vec_free(&l->untold[i].cpus);
	}
	free(l);
}

static void put_plural(dt_buf *out, const char *text, bool plural)
{
	for (; *text; text++) {
		if (text[0] == '%' && text[1] == 's') {
			text++;
			if (plural)
				dt_buf_putc(out, 's');
		} else {
			dt_buf_putc(out, *text);
		}
	}
}

/* " on CPU 2", " on CPUs 0-2,5" */
static void put_cpus(dt_buf *out, const struct untold *u)
{
	bool several = false;
	uint32_t n = 0, last;

	for (uint32_t i = 0; i < u->cpus.n; i++)
		n += u->cpus.v[i];
	dt_buf_puts(out, n == 1 ? " on CPU " : " on CPUs ");
	for (uint32_t i = 0; i < u->cpus.n; i = last + 1) {
		last = i;
		if (!u->cpus.v[i])
			continue;
		while (last + 1 < u->cpus.n && u->cpus.v[last + 1])
			last++;
		dt_buf_printf(out, "%s%u", several ? "," : "", i);
		if (last > i)
			dt_buf_printf(out, "%c%u", last > i + 1 ? '-' : ',', last);
		several = true;
	}
}

/* where: " on CPU 0", or "" */
static void describe(const dt_options *opts, const char *where, dt_diag *d, dt_buf *out)
{
	const struct loss *k = &losses[d->number];

	d->kind = DT_DIAG_DROP;
	d->tag = k->tag;
	d->on_cpu = k->per_cpu;
	if (dt_opt(opts, DT_O_DROPTAGS))
		dt_buf_printf(out, "[DTRACEDROP_%s] ", k->tag);
	dt_buf_printf(out, "%llu ", (unsigned long long)d->count);
	put_plural(out, k->text, d->count != 1);
	dt_buf_puts(out, where);
	d->text = out->s;
}

static void put_off(struct untold *u, const dt_diag *d)
{
	u->n += d->count;
	u->total += d->count;
	while (u->cpus.n <= d->cpu)
		*dt_vec_add(&u->cpus, NULL) = false;
	u->cpus.v[d->cpu] = true;
}

/*
 * Losses on one CPU, or anywhere. Writers of numbers get those of each CPU. In text DTrace has a line for each CPU and status
 * check (dropdetail); on a large machine they bury the trace, so they are added up.
 */
static int report(dt_losses *l, dt_diag *d, const struct dt_losses_to *to)
{
	char where[32] = "";
	dt_buf b = {0};
	int rc = 0;

	if (losses[d->number].per_cpu)
		snprintf(where, sizeof(where), " on CPU %u", d->cpu);
	describe(to->opts, where, d, &b);
	if (to->takes && to->takes(to->arg, d))
		rc = 0;
	else if (dt_opt(to->opts, DT_O_DROPDETAIL))
		rc = to->tell(to->arg, d);
	else
		put_off(&l->untold[d->number], d);
	dt_buf_free(&b);
	return rc;
}

/* The sums of a second; at the end, what is left. */
static int tell_sums(dt_losses *l, bool running, const struct dt_losses_to *to)
{
	int rc = 0;

	if (running && l->told && to->now - l->told < NSEC)
		return 0;
	for (size_t i = 0; i < DT_NELEM(losses) && rc == 0; i++) {
		struct untold *u = &l->untold[i];
		dt_diag d = {.number = (int)i, .count = u->n, .total = u->total};
		dt_buf b = {0}, where = {0};

		if (!u->n)
			continue;
		if (losses[i].per_cpu)
			put_cpus(&where, u);
		describe(to->opts, where.s ? where.s : "", &d, &b);
		rc = to->tell(to->arg, &d);
		dt_buf_free(&b);
		dt_buf_free(&where);
		u->n = u->cpus.n = 0;
		l->told = to->now;
	}
	return rc;
}

/* Once, at the end: the lines for each of them are DTrace's. */
static int explain_absent(dt_losses *l, const dt_status *st, const struct dt_losses_to *to)
{
	dt_diag d = {.kind = DT_DIAG_NOTE};
	dt_buf b = {0};
	int rc;

	if (st->running || !st->absent || l->explained)
		return 0;
	l->explained = true;
	dt_buf_printf(&b,
		      "%llu invalid address%s: user memory that was not in memory at that moment, "
		      "and the probe "
		      "could not wait for it; keep the address and read it when the call returns",
		      (unsigned long long)st->absent, st->absent == 1 ? "" : "es");
	d.text = b.s;
	rc = to->tell(to->arg, &d);
	dt_buf_free(&b);
	return rc;
}

/* Once, at the end: what it cost to lose nothing. */
static int tell_stops(dt_losses *l, const dt_status *st, const struct dt_losses_to *to)
{
	dt_diag d = {.kind = DT_DIAG_COST};
	dt_buf b = {0};
	int rc;

	if (st->running || !st->stops || l->told_stops)
		return 0;
	l->told_stops = true;
	dt_buf_printf(&b, "processes were stopped %llu time%s until a buffer had room", (unsigned long long)st->stops,
		      st->stops == 1 ? "" : "s");
	d.text = b.s;
	rc = to->tell(to->arg, &d);
	dt_buf_free(&b);
	return rc;
}

int dt_losses_report(dt_losses *l, const dt_status *st, const struct dt_losses_to *to)
{
	for (size_t i = 0; i < DT_NELEM(losses); i++) {
		const char *field = (const char *)st + losses[i].offset;
		const uint64_t *now =
		    losses[i].per_cpu ? *(uint64_t *const *)field : (const uint64_t *)field;
		uint32_t n = !losses[i].per_cpu ? 1 : now ? st->ncpus : 0;

		while (l->seen[i].n < n)
			*dt_vec_add(&l->seen[i], NULL) = 0;
		for (uint32_t j = 0; j < n; j++) {
			uint64_t grown = now[j] - l->seen[i].v[j];
			dt_diag d;

			if (now[j] <= l->seen[i].v[j])
				continue;
			l->seen[i].v[j] = now[j];
			d = (dt_diag){.number = (int)i, .cpu = j, .count = grown, .total = now[j]};
			if (report(l, &d, to) != 0)
				return -1;
		}
	}
	if (st->shedding && dt_shedding_report(&l->shedding, st->shedding, to) != 0)
		return -1;
	if (tell_sums(l, st->running, to) != 0)
		return -1;
	return explain_absent(l, st, to) || tell_stops(l, st, to) ? -1 : 0;
}
