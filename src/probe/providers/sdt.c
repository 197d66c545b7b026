/*
 * sdt: every tracepoint of the kernel, as sdt:<subsystem>::<event>.
 *
 * BTF lists the tracepoints and the types of their arguments, for all users. Only tracefs has the
 * subsystem of an event (available_events), and only for root; it is read without a mount
 * if necessary. Without it the subsystem is what the user wrote, or is guessed from the first word
 * of the event: it is only a name, the event determines what is traced.
 *
 * Other names are accepted: the provider as rawtp or tracepoint, and dashes for underscores, as
 * DTrace's own static probes are written (sched-switch).
 *
 * Ids follow the order of names in BTF, so they stay the same until another kernel is booted or a module
 * loaded. dt_probe.data is that order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/providers/providers.h"
#include "kernel/tracefs.h"

#define NO_SUBSYSTEM "vmlinux" /* tracepoints without an event in tracefs */

/*
 * event -> subsystem; empty when tracefs cannot be read. The list is read rather than the directories
 * events/<subsystem>/<event>, since the kernel makes each of these when it is looked at. Events of
 * system calls, a third, are not tracepoints.
 */
static dt_map *read_subsystems(dt_arena *a)
{
	int top = dt_tracefs_open();
	dt_map *map = dt_map_new();
	const char *subsystem = "";
	char *all = NULL, *line, *next, *event;
	size_t n;

	if (top >= 0) {
		all = dt_slurp(top, "available_events", &n);
		close(top);
	}
	for (line = all; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		event = strchr(line, ':');
		if (!event || strncmp(line, "syscalls:", 9) == 0)
			continue;
		*event++ = '\0';
		if (strcmp(line, subsystem) != 0) /* those of one follow each other */
			subsystem = dt_arena_strdup(a, line);
		dt_map_set(map, event, (void *)subsystem);
	}
	free(all);
	return map;
}

static void free_subsystems(void *map)
{
	dt_map_free(map);
}

/* Read once per session. */
static const dt_map *subsystems_of(dt_probes *ps, const dt_provider *p)
{
	void **kept = dt_probes_keep(ps, p, free_subsystems);

	if (!*kept)
		*kept = read_subsystems(dt_probes_arena(ps));
	return *kept;
}

static const char *subsystem_of(const dt_map *map, const dt_probedesc *d, const char *event,
				char *guess, size_t n)
{
	const char *known = dt_map_get(map, event);

	if (known || dt_map_count(map) > 0)
		return known ? known : NO_SUBSYSTEM;
	if (*d->mod && !dt_glob_is_pattern(d->mod))
		return d->mod;
	snprintf(guess, n, "%.*s", (int)strcspn(event, "_"), event);
	return guess;
}

/* ---- other names ---- */

static bool is_provider(const char *name)
{
	return strcmp(name, "sdt") == 0 || strcmp(name, "rawtp") == 0 || strcmp(name, "tracepoint") == 0;
}

static bool claims(const dt_provider *p, const char *pattern)
{
	return !*pattern || is_provider(pattern) ||
	       (dt_glob_is_pattern(pattern) && dt_glob_match(pattern, p->name));
}

/* The description with our names; a dash inside [] is a range. */
static dt_probedesc translate(const dt_probedesc *d, char *name, size_t n)
{
	dt_probedesc own = *d;
	bool set = false;

	if (is_provider(d->prov))
		own.prov = "sdt";
	if (!strchr(d->name, '-') || strlen(d->name) >= n)
		return own;
	strcpy(name, d->name);
	for (char *p = name; *p; p++) {
		set = *p == '[' || (set && *p != ']');
		if (*p == '-' && !set)
			*p = '_';
	}
	own.name = name;
	return own;
}

static bool matches(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const dt_probedesc *d)
{
	char name[128];
	dt_probedesc own = translate(d, name, sizeof(name));

	(void)p, (void)ps;
	return dt_probe_fits(pr, &own);
}

/* Could the description mean a tracepoint? Without a provider only a name that looks like one:
 * kernel types must not be read for BEGIN and tick-1s. */
static bool possible(const dt_probedesc *d, bool listing)
{
	if (*d->func && strcmp(d->func, "*") != 0)
		return false;
	return listing || *d->prov || strchr(d->name, '_');
}

static void explain(dt_probes *ps, const char *event, char *why, size_t whylen)
{
	const char *problem = dt_types_kernel_problem(dt_probes_types(ps)), *name;
	DT_VEC(const char *) names = { 0 };
	uint32_t it = 0;

	while (dt_tracepoint_next(dt_probes_types(ps), &it, &name))
		*dt_vec_add(&names, NULL) = name;
	if (problem)
		snprintf(why, whylen, "tracepoints are not known: %s", problem);
	else
		snprintf(why, whylen, "no tracepoint \"%s\"%s", event,
			 dt_did_you_mean(event, names.v, names.n).text);
	dt_vec_free(&names);
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *as_written, bool listing,
		    char *why, size_t whylen)
{
	char own_name[128];
	const dt_probedesc own = translate(as_written, own_name, sizeof(own_name)), *d = &own;
	dt_types *ts = dt_probes_types(ps);
	const char *name;
	uint32_t order = 0, found = 0;
	char guess[64];
	uint32_t it = 0;

	if (!ts || (!d->id && !possible(d, listing)))
		return 0;
	for (; dt_tracepoint_next(ts, &it, &name) && order < p->id_count; order++) {
		if (d->id ? d->id != p->id_base + order
			  : *d->name && !dt_glob_match(d->name, name))
			continue;
		dt_probes_add(ps, p, p->id_base + order, "sdt",
			      subsystem_of(subsystems_of(ps, p), d, name, guess, sizeof(guess)), "", name,
			      order);
		found++;
	}
	if (!found && *d->prov && !d->id && !dt_glob_is_pattern(d->name))
		explain(ps, d->name, why, whylen);
	return 0;
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	dt_types *ts = dt_probes_types(ps);
	dt_type *f = ts ? dt_tracepoint_type(ts, pr->name) : NULL;
	int n = 0;

	(void)p, (void)xlated, (void)mapping;
	if (!f)
		return -1;
	for (uint32_t i = 1; i < f->nparams && n < max; i++)
		native[n++] = dt_type_name(ts, f->params[i]);
	return n;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	(void)p, (void)ps, (void)why, (void)whylen;
	at->kind = DT_AT_TRACEPOINT;
	at->event = pr->name;
	return 0;
}

const dt_provider dt_provider_sdt = {
	.name = "sdt",
	DT_PROVIDER_IDS(sdt),
	.attrs = { DT_ATTR(EVOLVING, EVOLVING, ISA), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
		   DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(PRIVATE, PRIVATE, ISA),
		   DT_ATTR(PRIVATE, PRIVATE, ISA) },
	.claims = claims,
	.matches = matches,
	.discover = discover,
	.args = args,
	.attach = attach,
};
