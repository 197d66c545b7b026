/*
 * profile: probes that fire by time. profile-N[unit] fires on every CPU, tick-N[unit] on one.
 *
 * A few common rates are always listed; any other interval becomes a probe when a description names
 * it without wildcards. Listed probes have the first ids of the range; the others get an id by the
 * hash of their name, so that it is the same in every run (if two names collide, one of them gets
 * the next free id).
 *
 * dt_probe.data is the interval in nanoseconds; the first letter of the name says which kind it is.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "probe/providers/providers.h"

#define NSEC	      1000000000ull
#define MIN_INTERVAL  200000ull /* ns */
#define MAX_PROBES    1000
#define FIRST_MADE_ID 100 /* in the range: below are the listed ones */

static const char *const listed[] = {
    "profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
    "profile-4001", "profile-4999", "tick-1",	   "tick-10",	  "tick-100",
    "tick-500",	    "tick-1000",    "tick-5000",
};

/* ns per unit; hz (0) counts the other way round. */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
    {"ns", 1},		 {"nsec", 1},		{"us", 1000},	    {"usec", 1000},
    {"ms", 1000000},	 {"msec", 1000000},	{"s", NSEC},	    {"sec", NSEC},
    {"m", 60 * NSEC},	 {"min", 60 * NSEC},	{"h", 3600 * NSEC}, {"hour", 3600 * NSEC},
    {"d", 86400 * NSEC}, {"day", 86400 * NSEC}, {"hz", 0},	    {"", 0},
};

/* "97hz" -> interval. 0 and a sentence in `why` when it is not one. */
static uint64_t parse_interval(const char *text, char *why, size_t whylen)
{
	uint64_t n = 0, ns = 0;
	const char *p = text;
	size_t u = 0;

	if (!isdigit((unsigned char)*p)) {
		snprintf(why, whylen, "\"%s\" is not an interval, such as 97, 10ms or 1s", text);
		return 0;
	}
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n)) {
			snprintf(why, whylen, "interval \"%s\" is too long", text);
			return 0;
		}
	while (u < DT_NELEM(units) && strcmp(units[u].name, p) != 0)
		u++;
	if (u == DT_NELEM(units)) {
		snprintf(why, whylen, "unknown unit \"%s\"; units are ns us ms s m h d and hz", p);
		return 0;
	}
	if (n == 0) {
		snprintf(why, whylen, "interval \"%s\" is zero", text);
		return 0;
	}
	if (units[u].ns == 0)
		ns = NSEC / n;
	else if (__builtin_mul_overflow(n, units[u].ns, &ns) || ns > INT64_MAX) {
		snprintf(why, whylen, "interval \"%s\" is too long", text);
		return 0;
	}
	if (ns < MIN_INTERVAL) {
		snprintf(why, whylen,
			 "interval \"%s\" is too short; the shortest is 200us (5000hz)", text);
		return 0;
	}
	return ns;
}

/* What follows "profile-" or "tick-"; NULL for any other name. */
static const char *interval_text(const char *name)
{
	if (strncmp(name, "profile-", 8) == 0)
		return name + 8;
	if (strncmp(name, "tick-", 5) == 0)
		return name + 5;
	return NULL;
}

/* The id of a probe made on demand; 0 when there are too many. */
static uint32_t made_id(const dt_provider *p, dt_probes *ps, const char *name)
{
	uint32_t n = p->id_count - FIRST_MADE_ID;
	uint32_t at = (uint32_t)(dt_hash_bytes(name, strlen(name)) % n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = p->id_base + FIRST_MADE_ID + (at + i) % n;
		const dt_probe *pr = dt_probes_known(ps, id);

		if (pr && strcmp(pr->name, name) == 0)
			return id;
		if (!pr)
			return dt_probes_count(ps, p) < MAX_PROBES ? id : 0;
	}
	return 0;
}

static void make_probe(const dt_provider *p, dt_probes *ps, const char *name, const char *interval,
		       char *why, size_t whylen)
{
	uint64_t ns = parse_interval(interval, why, whylen);
	uint32_t id;

	if (ns == 0)
		return;
	id = made_id(p, ps, name);
	if (id == 0)
		snprintf(why, whylen, "there are already %d probes of the profile provider",
			 MAX_PROBES);
	else
		dt_probes_add(ps, p, id, "profile", "", "", name, ns);
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	const char *interval = interval_text(d->name);

	(void)listing;
	for (uint32_t i = 0; i < DT_NELEM(listed); i++) {
		uint64_t ns = parse_interval(interval_text(listed[i]), why, whylen);

		dt_probes_add(ps, p, p->id_base + i, "profile", "", "", listed[i], ns);
		if (strcmp(d->name, listed[i]) == 0)
			return 0;
	}
	if (dt_glob_is_pattern(d->name))
		return 0;
	if (interval) {
		/* Not for profile:vmlinux::tick-1s: no probe is in a module. */
		if (dt_glob_match(*d->mod ? d->mod : "*", "") &&
		    dt_glob_match(*d->func ? d->func : "*", ""))
			make_probe(p, ps, d->name, interval, why, whylen);
	} else if (*d->prov && *d->name)
		snprintf(why, whylen,
			 "profile has no probe \"%s\"; names are profile-N and tick-N "
			 "with a unit, such as tick-1s",
			 d->name);
	return 0;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	(void)p, (void)ps, (void)why, (void)whylen;
	at->kind = DT_AT_CLOCK;
	at->number = pr->data;
	at->one = pr->name[0] == 't';
	return 0;
}

const dt_provider dt_provider_profile = {
    .name = "profile",
    DT_PROVIDER_IDS(profile),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(UNSTABLE, UNSTABLE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(EVOLVING, EVOLVING, COMMON),
	      DT_ATTR(EVOLVING, EVOLVING, COMMON)},
    .discover = discover,
    .attach = attach,
};
