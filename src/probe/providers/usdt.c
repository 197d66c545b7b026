/*
 * usdt: static probes in user programs, found by their ELF notes (elf/sdt_notes.h).
 *
 * Two ways to name the provider:
 *
 *	python$target, python123, python*	one process each: the provider of its probes is "python123"
 *	python					every process that has, or will have, one of the files mapped
 *
 * The second form needs existing files: those that running processes have mapped. Files are read
 * only if a description can match a static probe: its provider is one that no other provider has;
 * or it names none, and probes are listed, or no other provider has such a probe. Probes are then
 * those of the second form, but with -p and -c those of these processes. A module that is a path
 * means that file, whether a process has mapped it or not (dtrace -l --file). The module is the
 * file's base name, the function the one that the probe is in; "__" in names of probes is "-" in D.
 *
 * During tracing, processes that map a file are examined again, so that probes of programs that
 * start later are added (with -Z even if there are none at first).
 *
 * Arguments are D expressions over the registers (dt_attach.arg); their types are size and sign, or what a provider
 * declaration in the program says. Ids are given in the order of discovery.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/providers/usdt.h"
#include "proc/control.h"
#include "proc/sideband.h"

#define MAX_SUGGESTED 1000 /* names to search for a similar one */

struct placed { /* what dt_probe.data points to: a site in a process, or in all */
	const struct usdt_object *object;
	uint32_t site;	  /* the first of those with its names */
	long pid;	  /* 0: all */
	uint32_t id;
};

#define BATCH 256 /* processes whose mappings are kept while their files are looked into */

struct batch {
	DIR *proc; /* those that follow; NULL: there are none */
	uint32_t n;
	long pid[BATCH];
	dt_maps *maps[BATCH];
};

struct usdt {
	usdt_objects objects;
	struct batch *ahead; /* the first, filled by another thread while other providers discover; NULL: it was not */
	DT_VEC(struct placed) placed;
	dt_map *is_placed; /* keys of these (place_once) */
	/* During tracing: processes with new mappings; a search covers only them. */
	DT_VEC(long) fresh;
	bool searched; /* these processes; new ones are for the next search */
};

static void free_batch(struct batch *b)
{
	for (uint32_t i = 0; b && i < b->n; i++)
		dt_maps_free(b->maps[i]);
	if (b && b->proc)
		closedir(b->proc);
	free(b);
}

static void free_usdt(void *arg)
{
	struct usdt *u = arg;

	if (u) {
		free_batch(u->ahead);
		dt_usdt_objects_free(&u->objects);
		dt_vec_free(&u->placed);
		dt_vec_free(&u->fresh);
		dt_map_free(u->is_placed);
	}
	free(u);
}

static struct usdt *state(const dt_provider *p, dt_probes *ps)
{
	void **kept = dt_probes_keep(ps, p, free_usdt);
	struct usdt *u = *kept;

	if (!u) {
		*kept = u = dt_xcalloc(1, sizeof(*u));
		u->is_placed = dt_map_new();
		u->objects.arena = dt_arena_new();
		u->objects.jail = dt_procs_jail(dt_probes_procs(ps));
	}
	return u;
}

/* ---- from objects to probes ---- */

/* False: it already exists. */
static bool place_once(struct usdt *u, const struct usdt_object *o, uint32_t site, long pid)
{
	char key[64];

	snprintf(key, sizeof(key), "%p:%u:%ld", (const void *)o, site, pid);
	if (dt_map_get(u->is_placed, key))
		return false;
	dt_map_set(u->is_placed, key, u);
	return true;
}

struct search {
	const dt_provider *p;
	dt_probes *ps;
	struct usdt *u;
	const dt_probedesc *d;
	char name[64]; /* of the provider, a pattern, without the process */
	bool listing;
	bool any;      /* no provider was named */
	bool by_pid;   /* its probes are of one process each */
	long owner;    /* not 0: of this one, also those that it is followed to run */
	uint32_t seen; /* sites of such a provider, whatever their names */
	bool named;    /* one of them has the requested name */
	DT_VEC(const char *) names;
};

static void place(struct search *s, const struct usdt_object *o, uint32_t i, long pid)
{
	long owner = !s->by_pid ? 0 : s->owner ? s->owner : pid;
	const struct usdt_site *x = &o->sites.v[i];
	struct placed *at;
	char prov[96];
	uint32_t n = s->u->placed.n;

	if (!dt_glob_match(s->name, x->prov))
		return;
	s->seen++;
	s->named = s->named || !*s->d->name || dt_glob_match(s->d->name, x->name);
	if (!s->named && s->names.n < MAX_SUGGESTED)
		*dt_vec_add(&s->names, NULL) = x->name;
	if (!x->is_first || n >= s->p->id_count || !place_once(s->u, o, i, owner))
		return;
	at = dt_vec_add(&s->u->placed, NULL);
	*at = (struct placed){.object = o, .site = i, .pid = owner, .id = s->p->id_base + n};
	if (s->by_pid)
		snprintf(prov, sizeof(prov), "%s%ld", x->prov, owner);
	else
		snprintf(prov, sizeof(prov), "%s", x->prov);
	dt_probes_add(s->ps, s->p, at->id, prov, o->base, x->func, x->name, n);
}

/* A file with code that may have such probes. */
static bool is_candidate(const struct search *s, const dt_mapping *m)
{
	return m->kind == DT_MAP_FILE && m->exec && !(s->any && *s->d->mod && !dt_glob_match(s->d->mod, m->base));
}

static void search_mappings(struct search *s, long pid, const dt_maps *maps)
{
	const dt_jail *jail = s->u->objects.jail;

	for (uint32_t i = 0; maps && i < maps->n && !dt_jail_stopped(jail); i++) {
		const dt_mapping *m = &maps->v[i];
		struct usdt_object *o = is_candidate(s, m) ? dt_usdt_object(&s->u->objects, pid, m) : NULL;

		if (!o || !dt_usdt_has(&s->u->objects, o, s->name))
			continue;
		for (uint32_t k = 0; k < o->sites.n && !dt_jail_stopped(jail); k++)
			place(s, o, k, pid);
	}
}

static void search_process(struct search *s, long pid)
{
	dt_error ignored = {0};
	dt_maps *maps = dt_jail_stopped(s->u->objects.jail) ? NULL : dt_maps_code(pid, &ignored);

	search_mappings(s, pid, maps);
	dt_maps_free(maps);
}

/* The files of this process will be looked into together with those of others (dt_usdt_settle()). */
static dt_maps *expect(const struct search *s, long pid)
{
	usdt_objects *all = &s->u->objects;
	dt_error ignored = {0};
	dt_maps *maps = dt_jail_stopped(all->jail) ? NULL : dt_maps_code(pid, &ignored);

	for (uint32_t i = 0; maps && i < maps->n && !dt_jail_stopped(all->jail); i++)
		if (is_candidate(s, &maps->v[i]))
			dt_usdt_expect(all, pid, &maps->v[i]);
	return maps;
}

static void fill_batch(const struct search *s, struct batch *b)
{
	struct dirent *e;

	b->n = 0;
	while (b->proc && b->n < BATCH) {
		if (!(e = readdir(b->proc))) {
			closedir(b->proc);
			b->proc = NULL;
		} else if (isdigit((unsigned char)e->d_name[0])) {
			b->pid[b->n] = atol(e->d_name);
			b->maps[b->n] = expect(s, b->pid[b->n]);
			b->n++;
		}
	}
	dt_usdt_settle(&s->u->objects);
}

static struct batch *first_batch(void)
{
	struct batch *b = dt_xcalloc(1, sizeof(*b));

	b->proc = opendir("/proc");
	return b;
}

static void search_all(struct search *s)
{
	struct batch *b = s->u->ahead;

	if (!b) {
		b = first_batch();
		fill_batch(s, b);
	}
	s->u->ahead = NULL;
	for (;;) {
		for (uint32_t i = 0; i < b->n; i++) {
			search_mappings(s, b->pid[i], b->maps[i]);
			dt_maps_free(b->maps[i]);
		}
		b->n = 0;
		if (!b->proc)
			break;
		fill_batch(s, b);
	}
	free_batch(b);
}

/* Option follow: what the children run is part of the process. */
static void search_followed(struct search *s)
{
	struct dt_procs *procs = dt_probes_procs(s->ps);
	const dt_proc *pr;

	for (uint32_t i = 0; procs && (pr = dt_procs_nth(procs, i)); i++)
		if (pr->origin == DT_PROC_FOLLOWED && pr->state != DT_PROC_GONE)
			search_process(s, pr->pid);
}

/* "python123" -> "python", 123; "*123" -> "*", 123; 0: no process in it. */
static long split_pid(const char *prov, char *name, size_t n)
{
	size_t len = strlen(prov), digits = len;

	while (digits > 0 && isdigit((unsigned char)prov[digits - 1]))
		digits--;
	if (digits == 0 || digits == len || len - digits > 9)
		return 0;
	snprintf(name, n, "%.*s", (int)digits, prov);
	return dt_glob_is_pattern(name) && name[digits - 1] != '*' ? 0 : atol(prov + digits);
}

/* Those of -c and -p, run until their objects are mapped. */
static void search_targets(struct search *s)
{
	struct dt_procs *procs = dt_probes_procs(s->ps);
	dt_error ignored = {0};
	const dt_proc *pr;

	for (uint32_t i = 0; procs && (pr = dt_procs_nth(procs, i)); i++)
		if (pr->state != DT_PROC_GONE && dt_procs_need(procs, pr->pid, &ignored))
			search_process(s, pr->pid);
}

static bool is_any(const char *prov)
{
	return !*prov || strcmp(prov, "*") == 0;
}

/* Every provider name that no other provider claims may be a static one; pid123 belongs to the pid
 * provider. */
static bool claims(const dt_provider *p, const char *pattern)
{
	if (strncmp(pattern, "pid", 3) == 0 && strspn(pattern + 3, "0123456789*") == strlen(pattern + 3))
		return false;
	for (const dt_provider *const *other = dt_provider_table; *other; other++)
		if (*other != p && strcmp((*other)->name, pattern) == 0)
			return false;
	return true;
}

static void explain(const char *prov, bool listing, char *why, size_t whylen)
{
	dt_hint near = dt_provider_hint(prov);

	snprintf(why, whylen, "no process has static probes of a provider named %s%s", prov,
		 *near.text ? near.text : listing ? "" : "; -Z waits for one that has");
}

/* The provider exists, but has no such probe: "gc_start" for "gc-start". */
static void explain_name(struct search *s, char *why, size_t whylen)
{
	if (s->seen && !s->named && !dt_glob_is_pattern(s->d->name))
		snprintf(why, whylen, "provider %s has no probe \"%s\"%s", s->d->prov, s->d->name,
			 dt_did_you_mean(s->d->name, s->names.v, s->names.n).text);
}

/*
 * name123: a process that has such probes. It is stopped while they are created, but a process that
 * was not requested only if it has any: names of providers can also end with a number (nfsv3),
 * which would then be an unrelated process.
 */
static void search_one(struct search *s, long pid, char *why, size_t whylen)
{
	struct dt_procs *procs = dt_probes_procs(s->ps);
	dt_error err = {0};
	bool asked = procs && dt_procs_find(procs, pid);

	s->by_pid = true;
	s->owner = pid;
	if (!asked)
		search_process(s, pid);
	if ((asked || s->seen) && (!procs || dt_procs_need(procs, pid, &err)))
		search_process(s, pid);
	search_followed(s);
	if (!s->seen && !err.code)
		dt_maps_free(dt_maps_read(pid, &err)); /* can it be examined? */
	if (!s->seen && err.code) {
		snprintf(why, whylen, "%s", err.text);
		dt_probes_blame(s->ps, err.tag ? err.tag : D_PROC_GRAB);
	} else if (!s->seen)
		snprintf(why, whylen, "process %ld has no static probes%s%s%s", pid,
			 strcmp(s->name, "*") == 0 ? "" : " of a provider named ", strcmp(s->name, "*") == 0 ? "" : s->name,
			 s->listing ? "" : "; if a library that it loads later has them, -Z waits for it");
	s->owner = 0;
}

static bool has_targets(dt_probes *ps)
{
	struct dt_procs *procs = dt_probes_procs(ps);

	return procs && dt_procs_nth(procs, 0);
}

/* A file that need not be mapped. */
static void search_file(struct search *s, char *why, size_t whylen)
{
	dt_error err = {0};
	struct usdt_object *o = dt_usdt_file(&s->u->objects, s->d->mod, &err);

	if (o && !dt_usdt_has(&s->u->objects, o, "*"))
		o = NULL;
	for (uint32_t k = 0; o && k < o->sites.n; k++)
		place(s, o, k, 0);
	if (err.code)
		snprintf(why, whylen, "%s", err.text);
	else if (!s->seen)
		snprintf(why, whylen, "%s has no static probes", s->d->mod);
}

/* Other providers come first, which is much cheaper, and decides what "entry" means. */
static void search_any(struct search *s, char *why, size_t whylen)
{
	snprintf(s->name, sizeof(s->name), "*");
	s->any = true;
	if (s->d->mod[0] == '/')
		search_file(s, why, whylen);
	else if (!s->listing && (!*s->d->name || dt_probes_has(s->ps, s->d)))
		return;
	else if ((s->by_pid = has_targets(s->ps)))
		search_targets(s);
	else
		search_all(s);
}

static void search(struct search *s, char *why, size_t whylen)
{
	const char *prov = s->d->prov;
	long pid = split_pid(prov, s->name, sizeof(s->name));

	if (!s->u->ahead)
		s->u->objects.look++;
	if (is_any(prov)) {
		search_any(s, why, whylen);
		return;
	}
	if (pid > 0)
		search_one(s, pid, why, whylen);
	if (s->seen)
		return;
	snprintf(s->name, sizeof(s->name), "%s", prov);
	s->by_pid = dt_glob_is_pattern(prov);
	/* "python*" is the name of the provider and then the process: the pattern is tried on both */
	if (s->by_pid && s->name[0] && s->name[strlen(s->name) - 1] != '*')
		return;
	if (s->u->fresh.n) {
		s->u->searched = true;
		for (uint32_t i = 0; i < s->u->fresh.n; i++)
			search_process(s, s->u->fresh.v[i]);
		return;
	}
	search_targets(s);
	search_all(s);
	if (!s->seen && !*why && !dt_glob_is_pattern(prov))
		explain(prov, s->listing, why, whylen);
}

/* A listing of everything searches all processes. */
static void *prepare(const dt_provider *p, dt_probes *ps, const dt_probedesc *d)
{
	struct usdt *u;

	if (d->id || !is_any(d->prov) || *d->mod || has_targets(ps))
		return NULL;
	u = state(p, ps);
	u->objects.look++;
	free_batch(u->ahead);
	u->ahead = first_batch();
	return u;
}

static void ahead(void *arg)
{
	const dt_probedesc everything = {.prov = "", .mod = "", .func = "", .name = ""};
	const struct search s = {.u = arg, .d = &everything, .any = true};

	fill_batch(&s, s.u->ahead);
	for (uint32_t i = 0; i < s.u->objects.v.n && !dt_jail_stopped(s.u->objects.jail); i++)
		dt_usdt_has(&s.u->objects, s.u->objects.v.v[i], "*");
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing, char *why,
		    size_t whylen)
{
	struct search s = {.p = p, .ps = ps, .u = state(p, ps), .d = d, .listing = listing};

	if (!d->id) /* ids are of this session only */
		search(&s, why, whylen);
	if (!s.any)
		explain_name(&s, why, whylen);
	dt_vec_free(&s.names);
	return 0;
}

/* ---- while tracing ---- */

static uint32_t grows(const dt_provider *p, const dt_probedesc *d)
{
	(void)p;
	return is_any(d->prov) ? 0 : 1u << DT_AT_UPROBE;
}

static bool is_fresh(const struct usdt *u, long pid)
{
	for (uint32_t i = 0; i < u->fresh.n; i++)
		if (u->fresh.v[i] == pid)
			return true;
	return false;
}

static void remember(struct usdt *u, long pid)
{
	if (u->searched)
		u->fresh.n = 0;
	u->searched = false;
	if (!is_fresh(u, pid))
		*dt_vec_add(&u->fresh, NULL) = pid;
}

/* A file that is new to us may have probes; one that we know has them, in one more process. */
static bool news(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, long pid, const dt_file *file)
{
	struct usdt *u = state(p, ps);
	const struct usdt_object *without = file && file->root == 0 && u->objects.without ? dt_map_get(u->objects.without, file->path) : NULL;

	(void)d; /* of this process, or the one it is followed from */
	if (!file || file->vdso || (without && dt_usdt_is_unchanged(without, file->path)))
		return false;
	remember(u, pid);
	return true;
}

/* Children of a process with such probes have them as well. (A name without a process means them already.) */
static bool forked(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, long pid, long parent)
{
	struct usdt *u = state(p, ps);
	bool has = is_fresh(u, parent);

	if (!dt_glob_is_pattern(d->prov))
		return false;
	for (uint32_t i = u->placed.n; i > 0 && !has; i--)
		has = u->placed.v[i - 1].pid == parent;
	if (has)
		remember(u, pid);
	return has;
}

/* ---- one probe ---- */

static const struct placed *placed_of(const dt_provider *p, dt_probes *ps, const dt_probe *pr)
{
	return &state(p, ps)->placed.v[pr->data];
}

static bool matches(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const dt_probedesc *d)
{
	dt_probedesc in_file = *d;

	if (d->mod[0] != '/')
		return dt_probe_fits(pr, d);
	in_file.mod = "";
	return dt_probe_fits(pr, &in_file) && strcmp(placed_of(p, ps, pr)->object->file, d->mod) == 0;
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	const struct placed *at = placed_of(p, ps, pr);
	const struct usdt_site *x = &at->object->sites.v[at->site];
	int n = 0;

	(void)xlated, (void)mapping;
	for (; n < x->nargs && n < max; n++)
		native[n] = x->args[n].type;
	return x->nargs < 0 ? -1 : n;
}

static void attach_site(dt_probes *ps, const struct placed *here, const struct usdt_site *x, dt_attach *at)
{
	dt_attach_text *text;

	at->kind = DT_AT_UPROBE;
	at->path = here->object->path;
	at->offset = x->offset;
	at->ref_ctr = x->ref_ctr;
	at->call = x->call;
	at->pid = (int)here->pid;
	if (x->nargs <= 0)
		return;
	text = dt_probes_text(ps, at);
	text->narg = (uint32_t)x->nargs;
	for (uint32_t i = 0; i < text->narg; i++)
		text->arg[i] = x->args[i].text;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	const struct placed *here = placed_of(p, ps, pr);
	const struct usdt_object *o = here->object;

	(void)why, (void)whylen;
	attach_site(ps, here, &o->sites.v[here->site], at);
	for (uint32_t i = o->sites.v[here->site].next; i; i = o->sites.v[i].next) {
		dt_attach *more = dt_arena_alloc(dt_probes_arena(ps), sizeof(*more));

		attach_site(ps, here, &o->sites.v[i], more);
		at->also = more;
		at = more;
	}
	return 0;
}

const dt_provider dt_provider_usdt = {
    .name = "usdt",
    DT_PROVIDER_IDS(usdt),
    .attrs = {DT_ATTR(UNSTABLE, UNSTABLE, UNKNOWN), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(UNSTABLE, UNSTABLE, UNKNOWN),
	      DT_ATTR(UNSTABLE, UNSTABLE, UNKNOWN)},
    .claims = claims,
    .matches = matches,
    .grows = grows,
    .news = news,
    .forked = forked,
    .prepare = prepare,
    .ahead = ahead,
    .discover = discover,
    .args = args,
    .attach = attach,
};
