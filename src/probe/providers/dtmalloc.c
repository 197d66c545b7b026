/*
 * dtmalloc: the kernel's memory, by type: dtmalloc::dentry:malloc, dtmalloc::dentry:free.
 *
 * FreeBSD's kernel names the purpose of each allocation. Linux does so for memory with its own
 * cache (/proc/slabinfo lists them), and those names are the types here; the rest has type kmalloc,
 * with the caller as args[2].
 *
 * All types share the same two or three tracepoints, and each probe on one costs time at every
 * event. So a description with an empty function (dtmalloc:::malloc) is one probe for all types,
 * and args[0]->ks_shortdesc tells which; a pattern (dtmalloc::ext4_*:malloc) is one probe for each
 * type it matches.
 *
 * Native arguments: the cache or 0, the address, the caller, the size in bytes (0 for kfree(),
 * which does not know it), GFP flags. dt_probe.data is 1 for free. Ids: the first four are those of
 * all types and of kmalloc; the others go by the hash of the name.
 */
#include <ctype.h>
#include <stdio.h>

#include "probe/providers/providers.h"

#define MODULE	 "vmlinux"
#define FIRST_ID 10

static const char *const names[] = {"malloc", "free"};

/* Where memory of caches and other memory is allocated and freed. */
static const struct event {
	const char *tracepoint;
	const char *arg[5];
} events[2][2] = {
    {{"kmem_cache_alloc", {"arg2", "arg1", "arg0", "args[2]->object_size", "(int)args[3]"}},
     {"kmalloc", {"0", "arg1", "arg0", "args[2]", "(int)args[4]"}}},
    {{"kmem_cache_free", {"arg2", "arg1", "arg0", "args[2]->object_size", "0"}}, {"kfree", {"0", "arg1", "arg0", "0", "0"}}},
};

/* ---- names ---- */

/* kmalloc() takes its memory from these; the tracepoints do not distinguish them. */
static bool is_kmalloc(const char *cache)
{
	static const char *const prefixes[] = {"kmalloc-", "dma-kmalloc-", "memdup_user-", "msg_msg-"};

	for (size_t i = 0; i < DT_NELEM(prefixes); i++)
		if (strncmp(cache, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Can the name be a function in a probe description, and part of a D string? */
static bool is_usable(const char *cache)
{
	for (const char *p = cache; *p; p++)
		if (!isgraph((unsigned char)*p) || strchr(":\"\\*?[]{}`/", *p))
			return false;
	return *cache && !is_kmalloc(cache);
}

static uint32_t id_of(const dt_provider *p, dt_probes *ps, const char *cache, uint32_t free)
{
	uint32_t n = (p->id_count - FIRST_ID) / 2, at = (uint32_t)(dt_hash_bytes(cache, strlen(cache)) % n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = p->id_base + FIRST_ID + (at + i) % n * 2 + free;
		const dt_probe *pr = dt_probes_known(ps, id);

		if (!pr || strcmp(pr->func, cache) == 0)
			return id;
	}
	return 0;
}

static void add_type(const dt_provider *p, dt_probes *ps, const char *type, uint32_t first)
{
	for (uint32_t f = 0; f < 2; f++) {
		uint32_t id = first ? first + f : id_of(p, ps, type, f);

		if (id)
			dt_probes_add(ps, p, id, p->name, MODULE, type, names[f], f);
	}
}

/* Every cache that matches the pattern; all are entered in the order of the file, so that ids do
 * not depend on the pattern. */
static int add_caches(const dt_provider *p, dt_probes *ps)
{
	FILE *f = fopen("/proc/slabinfo", "re");
	char line[512], cache[256];

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, "slabinfo", 8) != 0 && *line != '#' && sscanf(line, "%255s", cache) == 1 && is_usable(cache))
			add_type(p, ps, cache, 0);
	fclose(f);
	return 0;
}

static bool field_matches(const char *pattern, const char *text)
{
	return !*pattern || dt_glob_match(pattern, text);
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing, char *why, size_t whylen)
{
	dt_types *ts = dt_probes_types(ps);

	(void)listing;
	if (!d->id && !(field_matches(d->mod, MODULE) && (field_matches(d->name, names[0]) || field_matches(d->name, names[1]))))
		return 0; /* kernel types are not read for others */
	for (uint32_t i = 0; i < 4; i++)
		if (!ts || !dt_tracepoint_exists(ts, events[i / 2][i % 2].tracepoint)) {
			if (*d->prov)
				snprintf(why, whylen, "dtmalloc needs the tracepoint %s, which this kernel does not have",
					 events[i / 2][i % 2].tracepoint);
			return 0;
		}
	add_type(p, ps, "", p->id_base);
	add_type(p, ps, "kmalloc", p->id_base + 2);
	if ((*d->func || d->id) && add_caches(p, ps) < 0 && *d->prov)
		snprintf(why, whylen, "the kernel's memory types are listed in /proc/slabinfo, which cannot be read");
	else if (*d->func && *d->prov && !dt_glob_is_pattern(d->func))
		snprintf(why, whylen, "this kernel has no cache \"%s\" (/proc/slabinfo lists them)", d->func);
	return 0;
}

static bool matches(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const dt_probedesc *d)
{
	(void)ps;
	return field_matches(d->prov, p->name) && field_matches(d->mod, pr->mod) && field_matches(d->name, pr->name) &&
	       (*d->func ? *pr->func && dt_glob_match(d->func, pr->func) : !*pr->func);
}

/* ---- arguments and attaching ---- */

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native, const char **xlated,
		int *mapping, int max)
{
	static const char *const types[][2] = {{"struct kmem_cache *", "malloc_type_t *"},
					       {"void *", "void *"},
					       {"uintptr_t", "uintptr_t"},
					       {"unsigned long", "unsigned long"},
					       {"int", "int"}};
	int n;

	(void)p, (void)ps, (void)pr;
	for (n = 0; n < max && n < (int)DT_NELEM(types); n++) {
		native[n] = types[n][0];
		xlated[n] = types[n][1];
		mapping[n] = n;
	}
	return n;
}

static void attach_event(dt_probes *ps, dt_attach *at, const struct event *e, const char *when)
{
	dt_attach_text *text = dt_probes_text(ps, at);

	at->kind = DT_AT_TRACEPOINT;
	at->event = e->tracepoint;
	text->when = when;
	text->narg = DT_NELEM(e->arg);
	for (uint32_t i = 0; i < DT_NELEM(e->arg); i++)
		text->arg[i] = e->arg[i];
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why, size_t whylen)
{
	static const char *const any = "arg1 != 0"; /* memory was allocated; free(NULL) is nothing */
	const struct event *e = events[pr->data & 1];
	dt_attach *also;

	(void)p, (void)why, (void)whylen;
	if (strcmp(pr->func, "kmalloc") == 0) {
		attach_event(ps, at, &e[1], any);
	} else if (*pr->func) {
		attach_event(ps, at, &e[0],
			     dt_arena_printf(dt_probes_arena(ps), "%s && stringof(args[2]->name) == \"%s\"", any, pr->func));
	} else {
		also = dt_arena_alloc(dt_probes_arena(ps), sizeof(*also));
		attach_event(ps, at, &e[0], any);
		attach_event(ps, also, &e[1], any);
		at->also = also;
	}
	return 0;
}

const dt_provider dt_provider_dtmalloc = {
    .name = "dtmalloc",
    DT_PROVIDER_IDS(dtmalloc),
    .attrs = {DT_ATTR(STABLE, STABLE, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(STABLE, STABLE, COMMON), DT_ATTR(STABLE, STABLE, COMMON)},
    .discover = discover,
    .matches = matches,
    .args = args,
    .attach = attach,
};
