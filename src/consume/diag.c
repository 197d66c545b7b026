/*
 * diag: messages about tracing, in DTrace's words: faults, and losses of every kind.
 *
 * A fault is a line, word for word as in DTrace. One kind comes in large numbers and says the same each
 * time: user memory that was not in memory. Of these only the first of each place (clause, action, DIF
 * offset) is a line; further ones are counted, and the count is reported at the next check of the status:
 * "... (12 more like this)".
 *
 * Engines count losses since the start; a loss is reported as the difference to the last report.
 * Each kind is a row of one table, in the order of DTrace's numbers for them.
 */
#include <stdlib.h>

#include "consume/writer.h"

const char *dt_fault_name(uint32_t code)
{
	static const char *const names[] = {
	    [DT_FLT_UNKNOWN] = "unknown fault",		[DT_FLT_BADADDR] = "invalid address",
	    [DT_FLT_BADALIGN] = "invalid alignment",	[DT_FLT_ILLOP] = "illegal operation",
	    [DT_FLT_DIVZERO] = "divide-by-zero",	[DT_FLT_NOSCRATCH] = "out of scratch space",
	    [DT_FLT_KPRIV] = "invalid kernel access",	[DT_FLT_UPRIV] = "invalid user access",
	    [DT_FLT_TUPOFLOW] = "tuple stack overflow", [DT_FLT_BADSTACK] = "bad stack",
	};

	if (code == DT_FLT_LIBRARY)
		return "library-level fault";
	return names[code < DT_NELEM(names) ? code : DT_FLT_UNKNOWN];
}

/* With the address it is about, or without. */
static void put_fault(dt_buf *out, const dt_fault *f, const dt_ecb *ecb, bool with_address)
{
	bool has_address =
	    f->code == DT_FLT_BADADDR || f->code == DT_FLT_BADALIGN || f->code == DT_FLT_BADSTACK;

	dt_buf_printf(out, "error on enabled probe ID %u (ID %u: %s:%s:%s:%s): %s", f->epid,
		      ecb->probe->id, ecb->probe->prov, ecb->probe->mod, ecb->probe->func,
		      ecb->probe->name, dt_fault_name(f->code));
	if (has_address && with_address)
		dt_buf_printf(out, " (0x%llx)", (unsigned long long)f->value);
	if (f->action == 0)
		dt_buf_puts(out, " in predicate");
	else
		dt_buf_printf(out, " in action #%u", f->action);
	if (f->offset >= 0)
		dt_buf_printf(out, " at DIF offset %d", f->offset);
}

void dt_fault_text(const dt_fault *f, const dt_ecb *ecb, dt_buf *out)
{
	put_fault(out, f, ecb, true);
}

/* ---- faults that repeat ---- */

struct place { /* of a fault that may come again */
	dt_fault fault;
	const dt_ecb *ecb;
	uint64_t more; /* since the last report */
	struct place *next;
};

struct dt_faults {
	DT_VEC(struct place *) places; /* by EPID */
};

dt_faults *dt_faults_new(void)
{
	return dt_xcalloc(1, sizeof(dt_faults));
}

void dt_faults_free(dt_faults *fs)
{
	struct place *p;

	if (!fs)
		return;
	for (uint32_t i = 0; i < fs->places.n; i++)
		while ((p = fs->places.v[i])) {
			fs->places.v[i] = p->next;
			free(p);
		}
	dt_vec_free(&fs->places);
	free(fs);
}

bool dt_faults_is_new(dt_faults *fs, const dt_fault *f, const dt_ecb *ecb)
{
	struct place **at;

	if (!f->absent)
		return true;
	while (fs->places.n <= f->epid)
		*dt_vec_add(&fs->places, NULL) = NULL;
	for (at = &fs->places.v[f->epid]; *at; at = &(*at)->next)
		if ((*at)->fault.action == f->action && (*at)->fault.offset == f->offset) {
			(*at)->more++;
			return false;
		}
	*at = dt_xcalloc(1, sizeof(**at));
	(*at)->fault = *f;
	(*at)->ecb = ecb;
	return true;
}

static int tell_more(const struct place *p, uint64_t more, const struct dt_losses_to *to)
{
	dt_diag d = {.kind = DT_DIAG_FAULT, .count = more};
	dt_buf text = {0};
	int rc;

	put_fault(&text, &p->fault, p->ecb, false);
	dt_buf_printf(&text, " (%llu more like this)", (unsigned long long)more);
	d.text = text.s;
	rc = to->tell(to->arg, &d);
	dt_buf_free(&text);
	return rc;
}

int dt_faults_report(dt_faults *fs, const struct dt_losses_to *to)
{
	for (uint32_t i = 0; i < fs->places.n; i++)
		for (struct place *p = fs->places.v[i]; p; p = p->next) {
			uint64_t more = p->more;

			p->more = 0;
			if (more && tell_more(p, more, to) != 0)
				return -1;
		}
	return 0;
}

/* ---- losses ---- */

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
	if (tell_sums(l, st->running, to) != 0)
		return -1;
	return explain_absent(l, st, to) ? -1 : 0;
}
