/*
 * dtrace: the three probes of the tracer itself.
 *
 * BEGIN fires before all others, END after all others, ERROR when a clause faults. They belong to
 * no module and no function, and their ids are fixed by tradition.
 */
#include <stdio.h>

#include "probe/providers/providers.h"

static const char *const names[] = {"BEGIN", "END", "ERROR"};
#define ERROR_ID 3

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	bool known = false;
	const char *near;

	(void)listing;
	for (uint32_t i = 0; i < DT_NELEM(names); i++) {
		dt_probes_add(ps, p, p->id_base + i, "dtrace", "", "", names[i], 0);
		known = known || strcmp(d->name, names[i]) == 0;
	}
	if (!known && *d->name && (*d->prov || (!*d->mod && !*d->func)) &&
	    !dt_glob_is_pattern(d->name)) {
		near = dt_nearest(d->name, names, DT_NELEM(names));
		if (near && !*d->prov)
			snprintf(why, whylen, "did you mean \"%s\"?", near);
		else if (!*d->prov)
			return 0;
		else if (near)
			snprintf(why, whylen, "dtrace has no probe \"%s\"; did you mean \"%s\"?",
				 d->name, near);
		else
			snprintf(why, whylen,
				 "dtrace has no probe \"%s\", only BEGIN, END and ERROR", d->name);
	}
	return 0;
}

/* ERROR: unused, epid, action, offset, fault, value. */
static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	static const char *const types[] = {"int", "int", "int", "int", "int", "uint64_t"};

	(void)p, (void)ps, (void)xlated, (void)mapping;
	if (pr->id != ERROR_ID || max < (int)DT_NELEM(types))
		return -1;
	for (size_t i = 0; i < DT_NELEM(types); i++)
		native[i] = types[i];
	return DT_NELEM(types);
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	(void)ps, (void)why, (void)whylen;
	at->kind = DT_AT_BEGIN + (pr->id - p->id_base);
	return 0;
}

const dt_provider dt_provider_dtrace = {
    .name = "dtrace",
    DT_PROVIDER_IDS(dtrace),
    .attrs = {DT_ATTR(STABLE, STABLE, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(STABLE, STABLE, COMMON),
	      DT_ATTR(STABLE, STABLE, COMMON)},
    .discover = discover,
    .args = args,
    .attach = attach,
};
