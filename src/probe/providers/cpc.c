/*
 * cpc: a probe fires each time an event has happened count times on a CPU.
 * cpc:::<event>-<mode>-<count>, where mode says what is counted: user, kernel or all.
 *
 * Events are those of the kernel's perf interface, by its names or by PAPI's names; - and _ are
 * equivalent in them, and case does not matter. rNNN is an event of this processor by its
 * hexadecimal number, as for perf; a mask between mode and count is its unit mask. Which of them a
 * machine can count is found by trying: virtual machines often have no counters, but the kernel's
 * own events (software) are always available.
 *
 * The available events are listed, each with a typical count; any other count becomes a probe when
 * it is named. Its id comes from a hash of the name. dt_probe.data is not used: the name is enough.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/providers/providers.h"

#define MIN_HARDWARE  5000   /* as in DTrace: a higher rate would stop the machine */
#define MIN_CLOCK     200000 /* ns, as for profile */
#define FIRST_MADE_ID 500    /* in the range: below are the listed ones */

#define CACHE(c, op, result)                                                                       \
	(PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 |                              \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct event {
	const char *name, *papi; /* papi: NULL: PAPI has none */
	uint32_t type;
	uint64_t config, min, usual;
} events[] = {
    {"cpu-cycles", "PAPI_tot_cyc", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, MIN_HARDWARE,
     1000000},
    {"cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, MIN_HARDWARE, 0},
    {"instructions", "PAPI_tot_ins", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, MIN_HARDWARE,
     1000000},
    {"cache-references", "PAPI_l3_tca", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
     MIN_HARDWARE, 100000},
    {"cache-misses", "PAPI_l3_tcm", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, MIN_HARDWARE,
     10000},
    {"branch-instructions", "PAPI_br_ins", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
     MIN_HARDWARE, 100000},
    {"branches", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, MIN_HARDWARE, 0},
    {"branch-misses", "PAPI_br_msp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, MIN_HARDWARE,
     10000},
    {"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, MIN_HARDWARE, 100000},
    {"stalled-cycles-frontend", "PAPI_stl_icy", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, MIN_HARDWARE, 100000},
    {"stalled-cycles-backend", "PAPI_res_stl", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND, MIN_HARDWARE, 100000},
    {"ref-cycles", "PAPI_ref_cyc", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, MIN_HARDWARE,
     1000000},
    {"L1-dcache-loads", "PAPI_l1_dcr", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS), MIN_HARDWARE,
     100000},
    {"L1-dcache-load-misses", "PAPI_l1_dcm", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS),
     MIN_HARDWARE, 10000},
    {"L1-icache-load-misses", "PAPI_l1_icm", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS),
     MIN_HARDWARE, 10000},
    {"LLC-loads", NULL, PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), MIN_HARDWARE, 10000},
    {"LLC-load-misses", NULL, PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), MIN_HARDWARE, 10000},
    {"dTLB-load-misses", "PAPI_tlb_dm", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), MIN_HARDWARE,
     10000},
    {"iTLB-load-misses", "PAPI_tlb_im", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), MIN_HARDWARE,
     10000},
    {"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, MIN_CLOCK, 10000000},
    {"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, MIN_CLOCK, 10000000},
    {"page-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 1},
    {"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, 1},
    {"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, 1},
    {"context-switches", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, 1},
    {"cpu-migrations", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1, 1},
    {"alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, 1},
    {"emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, 1, 1},
};

/* ---- names ---- */

static bool same_name(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char x = (char)tolower((unsigned char)a[i]), y = (char)tolower((unsigned char)b[i]);

		if ((x == '_' ? '-' : x) != (y == '_' ? '-' : y))
			return false;
	}
	return b[n] == 0;
}

/* The meaning of a name. */
struct counter {
	struct event e;
	bool user, kernel;
	uint64_t count;
};

/* The event that the first n letters are; false and a sentence. */
static bool parse_event(const char *name, size_t n, struct event *e, char *why, size_t whylen)
{
	const char *names[DT_NELEM(events)];
	char word[64], *end;

	for (size_t i = 0; i < DT_NELEM(events); i++) {
		names[i] = events[i].name;
		if (same_name(name, events[i].name, n) ||
		    (events[i].papi && same_name(name, events[i].papi, n))) {
			*e = events[i];
			return true;
		}
	}
	snprintf(word, sizeof(word), "%.*s", (int)n, name);
	if (word[0] == 'r' && isxdigit((unsigned char)word[1])) {
		*e = (struct event){"raw",	  NULL, PERF_TYPE_RAW, strtoull(word + 1, &end, 16),
				    MIN_HARDWARE, 0};
		if (*end == 0)
			return true;
	}
	snprintf(why, whylen, "no event \"%s\"%s", word, dt_did_you_mean(word, names, DT_NELEM(events)).text);
	return false;
}

/* The word before *end and its '-'; *end is moved there. False: there is none. */
static bool last_word(const char *name, size_t *end, const char **word, size_t *n)
{
	size_t at = *end;

	while (at > 0 && name[at - 1] != '-')
		at--;
	if (at < 2)
		return false;
	*word = name + at;
	*n = *end - at;
	*end = at - 1;
	return true;
}

static bool is_word(const char *w, size_t n, const char *text)
{
	return strlen(text) == n && strncmp(w, text, n) == 0;
}

static bool parse_mode(const char *w, size_t n, struct counter *c)
{
	c->user = is_word(w, n, "user") || is_word(w, n, "all");
	c->kernel = is_word(w, n, "kernel") || is_word(w, n, "all");
	return c->user || c->kernel;
}

/* event-mode-[mask-]count */
static bool parse(const char *name, struct counter *c, char *why, size_t whylen)
{
	size_t end = strlen(name), n;
	const char *w;
	uint64_t mask = 0;
	char *stop;

	*c = (struct counter){0};
	if (!last_word(name, &end, &w, &n) || !isdigit((unsigned char)*w)) {
		snprintf(why, whylen, "\"%s\" is not event-mode-count, such as page-faults-user-1",
			 name);
		return false;
	}
	errno = 0;
	c->count = strtoull(w, &stop, 10);
	if (stop != w + n || errno || c->count > INT64_MAX) {
		snprintf(why, whylen, "\"%.*s\" is not a count", (int)n, w);
		return false;
	}
	if (last_word(name, &end, &w, &n) && !parse_mode(w, n, c) && isdigit((unsigned char)*w)) {
		mask = strtoull(w, NULL, 0);
		if (last_word(name, &end, &w, &n))
			parse_mode(w, n, c);
	}
	if (!c->user && !c->kernel) {
		snprintf(why, whylen,
			 "\"%s\" is not event-mode-count with mode user, kernel or all", name);
		return false;
	}
	if (!parse_event(name, end, &c->e, why, whylen))
		return false;
	if (mask && c->e.type != PERF_TYPE_RAW) {
		snprintf(why, whylen, "only events by number (rNNN) have a mask");
		return false;
	}
	c->e.config |= (mask & 0xff) << 8;
	if (c->count < c->e.min) {
		snprintf(why, whylen, "count %llu is too small for %.*s: at least %llu",
			 (unsigned long long)c->count, (int)end, name,
			 (unsigned long long)c->e.min);
		return false;
	}
	return true;
}

/* ---- what this machine can count ---- */

static int try_counter(const struct counter *c)
{
	struct perf_event_attr a = {.type = c->e.type,
				    .size = sizeof(a),
				    .config = c->e.config,
				    .sample_period = c->count,
				    .exclude_user = !c->user,
				    .exclude_kernel = !c->kernel,
				    .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool can_count(const struct counter *c, const char *name, char *why, size_t whylen)
{
	int error = try_counter(c);

	if (error == EACCES || error == EPERM)
		snprintf(why, whylen, "counting events needs root or CAP_PERFMON");
	else if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL)
		snprintf(why, whylen,
			 "%s cannot be counted here: this machine, or the virtual one, has no such "
			 "counter",
			 name);
	else if (error)
		snprintf(why, whylen, "%s cannot be counted: %s", name, dt_strerror(error));
	return error == 0;
}

/* ---- the provider ---- */

static uint32_t made_id(const dt_provider *p, dt_probes *ps, const char *name)
{
	uint32_t n = p->id_count - FIRST_MADE_ID,
		 at = (uint32_t)(dt_hash_bytes(name, strlen(name)) % n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = p->id_base + FIRST_MADE_ID + (at + i) % n;
		const dt_probe *pr = dt_probes_known(ps, id);

		if (!pr || strcmp(pr->name, name) == 0)
			return id;
	}
	return 0;
}

/* Events of software are part of perf, so the first, a clock, speaks for all: to open one of the others makes the kernel
 * change its own code, on all CPUs. */
static bool is_countable(const struct counter *c, int *software)
{
	if (c->e.type != PERF_TYPE_SOFTWARE)
		return try_counter(c) == 0;
	if (*software < 0)
		*software = try_counter(c) == 0;
	return *software;
}

static void list(const dt_provider *p, dt_probes *ps, const dt_probedesc *d)
{
	char name[80], ignored[128];
	struct counter c;
	int software = -1;

	for (uint32_t i = 0; i < DT_NELEM(events); i++) {
		snprintf(name, sizeof(name), "%s-all-%llu", events[i].name,
			 (unsigned long long)events[i].usual);
		if (!events[i].usual || (d->id && d->id != p->id_base + i) ||
		    (*d->name && !dt_glob_match(d->name, name)))
			continue;
		if (!dt_probes_known(ps, p->id_base + i) &&
		    parse(name, &c, ignored, sizeof(ignored)) && is_countable(&c, &software))
			dt_probes_add(ps, p, p->id_base + i, "cpc", "", "", name, 0);
	}
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	struct counter c;
	char ignored[256];
	uint32_t id;

	if (d->id || (*d->prov && (!*d->name || dt_glob_is_pattern(d->name))) || listing)
		list(p, ps, d);
	if (d->id || !*d->name || dt_glob_is_pattern(d->name) ||
	    !dt_glob_match(*d->mod ? d->mod : "*", "") ||
	    !dt_glob_match(*d->func ? d->func : "*", ""))
		return 0;
	if (!*d->prov) { /* without a provider only a name of one of our probes; others are ignored */
		why = ignored;
		whylen = sizeof(ignored);
		if (!strchr(d->name, '-') || strncmp(d->name, "tick-", 5) == 0 ||
		    strncmp(d->name, "profile-", 8) == 0)
			return 0;
	}
	if (!parse(d->name, &c, why, whylen) || !can_count(&c, d->name, why, whylen))
		return 0;
	for (uint32_t i = 0; i < DT_NELEM(events); i++)
		if (dt_probes_known(ps, p->id_base + i) &&
		    strcmp(dt_probes_known(ps, p->id_base + i)->name, d->name) == 0)
			return 0;
	id = made_id(p, ps, d->name);
	if (id)
		dt_probes_add(ps, p, id, "cpc", "", "", d->name, 0);
	return 0;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	struct counter c;

	(void)p, (void)ps;
	if (!parse(pr->name, &c, why, whylen))
		return -1;
	at->kind = DT_AT_PERF;
	at->perf_type = c.e.type;
	at->number = c.e.config;
	at->period = c.count;
	at->exclude_user = !c.user;
	at->exclude_kernel = !c.kernel;
	return 0;
}

const dt_provider dt_provider_cpc = {
    .name = "cpc",
    DT_PROVIDER_IDS(cpc),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(EVOLVING, EVOLVING, CPU),
	      DT_ATTR(EVOLVING, EVOLVING, COMMON)},
    .discover = discover,
    .attach = attach,
};
