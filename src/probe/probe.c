/*
 * probe: the registry of one session, and matching.
 *
 * A description is four shell patterns. To match it, every provider that could own such a probe
 * reports what it has (this is where probes are discovered, lazily); then all known probes are
 * compared with the patterns. Probes are kept for the life of the registry, found by id through a
 * small hash table, and always returned in order of id.
 *
 * When nothing matches, the message is the provider's own reason.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/probe.h"

/* Field lengths with the NUL, as in DTrace. */

struct kept { /* private data of a provider */
	const dt_provider *p;
	void *what;
	void (*free_it)(void *);
	struct kept *next;
};

struct dt_probes {
	dt_arena *arena;
	dt_types *types;	/* not owned */
	const dt_options *opts; /* not owned */
	struct dt_procs *procs; /* not owned */
	dt_probes_may_f *may;	/* NULL: everything */
	void *may_arg;
	dt_ksyms *ksyms;
	dt_kfuncs *kfuncs;
	struct kept *kept;
	DT_VEC(dt_probe *) all;
	dt_probe **by_id; /* open addressing; size is a power of two, at most half full */
	uint32_t by_id_size;
	DT_VEC(dt_probe *) found; /* result of the last match */
	enum dt_tag tag;	  /* why there is none, if a provider gave a reason */
};

dt_probes *dt_probes_new(void)
{
	dt_probes *ps = dt_xcalloc(1, sizeof(*ps));

	ps->arena = dt_arena_new();
	ps->ksyms = dt_ksyms_new();
	ps->kfuncs = dt_kfuncs_new(ps->ksyms);
	return ps;
}

void dt_probes_free(dt_probes *ps)
{
	if (!ps)
		return;
	dt_vec_free(&ps->all);
	dt_vec_free(&ps->found);
	free(ps->by_id);
	for (struct kept *k = ps->kept; k; k = k->next)
		k->free_it(k->what);
	dt_kfuncs_free(ps->kfuncs);
	dt_ksyms_free(ps->ksyms);
	dt_arena_free(ps->arena);
	free(ps);
}

dt_arena *dt_probes_arena(dt_probes *ps)
{
	return ps->arena;
}

void dt_probes_set_types(dt_probes *ps, dt_types *ts)
{
	ps->types = ts;
}

dt_types *dt_probes_types(dt_probes *ps)
{
	return ps->types;
}

void dt_probes_set_options(dt_probes *ps, const dt_options *opts)
{
	ps->opts = opts;
}

bool dt_probes_option(const dt_probes *ps, enum dt_opt_id id)
{
	return ps->opts && dt_opt(ps->opts, id);
}

void dt_probes_limit(dt_probes *ps, dt_probes_may_f *may, void *arg)
{
	ps->may = may;
	ps->may_arg = arg;
}

void dt_probes_set_procs(dt_probes *ps, struct dt_procs *procs)
{
	ps->procs = procs;
}

struct dt_procs *dt_probes_procs(const dt_probes *ps)
{
	return ps->procs;
}

dt_kfuncs *dt_probes_kfuncs(dt_probes *ps)
{
	return ps->kfuncs;
}

dt_ksyms *dt_probes_ksyms(dt_probes *ps)
{
	return ps->ksyms;
}

void **dt_probes_keep(dt_probes *ps, const dt_provider *p, void (*free_it)(void *))
{
	struct kept *k = ps->kept;

	while (k && k->p != p)
		k = k->next;
	if (!k) {
		k = dt_arena_alloc(ps->arena, sizeof(*k));
		*k = (struct kept){.p = p, .free_it = free_it, .next = ps->kept};
		ps->kept = k;
	}
	return &k->what;
}

dt_attach_text *dt_probes_text(dt_probes *ps, dt_attach *at)
{
	dt_attach_text *text = dt_arena_alloc(ps->arena, sizeof(*text));

	at->text = text;
	return text;
}

void dt_probes_blame(dt_probes *ps, enum dt_tag tag)
{
	ps->tag = tag;
}

/* ---- by id ---- */

static uint32_t id_slot(const dt_probes *ps, uint32_t id)
{
	uint32_t mask = ps->by_id_size - 1;
	uint32_t i = (id * 2654435761u) & mask;

	while (ps->by_id[i] && ps->by_id[i]->id != id)
		i = (i + 1) & mask;
	return i;
}

static void grow_ids(dt_probes *ps)
{
	uint32_t size = ps->by_id_size ? ps->by_id_size * 2 : 64;

	free(ps->by_id);
	ps->by_id = dt_xcalloc(size, sizeof(*ps->by_id));
	ps->by_id_size = size;
	for (uint32_t i = 0; i < ps->all.n; i++)
		ps->by_id[id_slot(ps, ps->all.v[i]->id)] = ps->all.v[i];
}

dt_probe *dt_probes_known(const dt_probes *ps, uint32_t id)
{
	return ps->by_id_size ? ps->by_id[id_slot(ps, id)] : NULL;
}

uint32_t dt_probes_count(const dt_probes *ps, const dt_provider *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ps->all.n; i++)
		n += ps->all.v[i]->provider == p;
	return n;
}

/* A process names its own files, functions and static probes. */
static char *safe_name(dt_arena *a, const char *name)
{
	char *s = dt_arena_strdup(a, name);

	dt_make_safe(s, strlen(s), false);
	return s;
}

dt_probe *dt_probes_add(dt_probes *ps, const dt_provider *p, uint32_t id, const char *prov,
			const char *mod, const char *func, const char *name, uint64_t data)
{
	dt_probe *pr = dt_probes_known(ps, id);

	if (pr)
		return pr;
	pr = dt_arena_alloc(ps->arena, sizeof(*pr));
	*pr = (dt_probe){
	    .id = id,
	    .provider = p,
	    .prov = safe_name(ps->arena, prov),
	    .mod = safe_name(ps->arena, mod),
	    .func = safe_name(ps->arena, func),
	    .name = safe_name(ps->arena, name),
	    .data = data,
	};
	if ((ps->all.n + 1) * 2 > ps->by_id_size)
		grow_ids(ps);
	*dt_vec_add(&ps->all, NULL) = pr;
	ps->by_id[id_slot(ps, id)] = pr;
	return pr;
}

dt_probe *dt_probes_by_id(dt_probes *ps, uint32_t id)
{
	const dt_probedesc d = {.id = id, .prov = "", .mod = "", .func = "", .name = ""};
	dt_probe *pr = dt_probes_known(ps, id);
	char why[256] = "";

	/* Ranges are fixed, so only the owner has to be asked. */
	for (const dt_provider *const *p = dt_provider_table; !pr && *p; p++) {
		if (id < (*p)->id_base || id - (*p)->id_base >= (*p)->id_count)
			continue;
		(*p)->discover(*p, ps, &d, true, why, sizeof(why));
		pr = dt_probes_known(ps, id);
	}
	return pr;
}

/* ---- matching ---- */

static bool field_matches(const char *pattern, const char *text)
{
	if (!*pattern)
		return true;
	return dt_glob_is_pattern(pattern) ? dt_glob_match(pattern, text)
					   : strcmp(pattern, text) == 0;
}

/* The kernel has more than one name. */
static bool module_matches(const char *pattern, const char *text)
{
	return field_matches(pattern, text) ||
	       (strcmp(text, "vmlinux") == 0 && field_matches(dt_kfunc_module(pattern), text));
}

bool dt_probe_fits(const dt_probe *pr, const dt_probedesc *d)
{
	return field_matches(d->prov, pr->prov) && module_matches(d->mod, pr->mod) &&
	       field_matches(d->func, pr->func) && field_matches(d->name, pr->name);
}

static bool is_empty(const dt_probedesc *d)
{
	return !*d->prov && !*d->mod && !*d->func && !*d->name;
}

static bool probe_matches(dt_probes *ps, const dt_probe *pr, const dt_probedesc *d, bool listing)
{
	/* ":::" enables only probes that are anchored in a function; a listing shows all. */
	if (is_empty(d))
		return listing || *pr->func;
	if (pr->provider->matches)
		return pr->provider->matches(pr->provider, ps, pr, d);
	return dt_probe_fits(pr, d);
}

bool dt_probes_has(dt_probes *ps, const dt_probedesc *d)
{
	for (uint32_t i = 0; i < ps->all.n; i++)
		if (probe_matches(ps, ps->all.v[i], d, false))
			return true;
	return false;
}

static bool provider_claims(const dt_provider *p, const char *pattern)
{
	return p->claims ? p->claims(p, pattern) : field_matches(pattern, p->name);
}

static int compare_ids(const void *a, const void *b)
{
	const dt_probe *x = *(dt_probe *const *)a, *y = *(dt_probe *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

dt_hint dt_provider_hint(const char *name)
{
	const char *names[64];
	size_t n = 0;

	for (const dt_provider *const *p = dt_provider_table; *p && n < DT_NELEM(names); p++)
		names[n++] = (*p)->name;
	return dt_did_you_mean(name, names, n);
}

static int match_id(dt_probes *ps, uint32_t id, dt_error *err)
{
	dt_probe *pr = dt_probes_by_id(ps, id);

	if (pr) {
		*dt_vec_add(&ps->found, NULL) = pr;
		return 1;
	}
	snprintf(err->text, sizeof(err->text), "no probe has id %u", id);
	return 0;
}

/* May this provider be asked? Those of the kernel may: what they find is for the caller to look at. */
static bool may_ask(const dt_probes *ps, const dt_provider *p, const dt_probedesc *d)
{
	return !ps->may || !p->news || ps->may(ps->may_arg, p->claims ? d->prov : p->name);
}

/* What can be done beside the other providers begins; the provider that it is for is returned. */
static const dt_provider *begin_ahead(dt_probes *ps, const dt_probedesc *d, dt_beside *beside)
{
	void *prepared;

	for (const dt_provider *const *p = dt_provider_table; *p; p++)
		if ((*p)->prepare && provider_claims(*p, d->prov) && may_ask(ps, *p, d) && (prepared = (*p)->prepare(*p, ps, d))) {
			dt_beside_begin(beside, (*p)->ahead, prepared);
			return *p;
		}
	return NULL;
}

static int discover(dt_probes *ps, const dt_probedesc *d, bool listing, char why[256], dt_error *err)
{
	dt_beside beside = {0};
	const dt_provider *ahead = listing ? begin_ahead(ps, d, &beside) : NULL;
	char own[256];
	int rc = 0;

	for (const dt_provider *const *p = dt_provider_table; *p && rc == 0; p++) {
		if (!provider_claims(*p, d->prov))
			continue;
		if (!may_ask(ps, *p, d)) {
			snprintf(why, sizeof(own), "probes of provider %.100s are not allowed by its policy", d->prov);
			continue;
		}
		if (*p == ahead)
			dt_beside_end(&beside);
		own[0] = '\0';
		if ((*p)->discover(*p, ps, d, listing, own, sizeof(own)) < 0)
			rc = dt_err(err, EDT_BADSPEC, "%s", own);
		else if (own[0] && !why[0])
			memcpy(why, own, sizeof(own));
	}
	dt_beside_end(&beside);
	return rc;
}

static int match_patterns(dt_probes *ps, const dt_probedesc *d, bool listing, dt_error *err)
{
	char first_why[256] = "";

	ps->tag = DT_NO_TAG;
	if (discover(ps, d, listing, first_why, err) < 0)
		return -1;
	for (uint32_t i = 0; i < ps->all.n; i++)
		if (probe_matches(ps, ps->all.v[i], d, listing))
			*dt_vec_add(&ps->found, NULL) = ps->all.v[i];
	if (ps->found.n > 1)
		qsort(ps->found.v, ps->found.n, sizeof(*ps->found.v), compare_ids);
	if (ps->found.n == 0) {
		snprintf(err->text, sizeof(err->text), "%s", first_why);
		err->tag = first_why[0] ? ps->tag : DT_NO_TAG;
	}
	return (int)ps->found.n;
}

int dt_probes_lacking(dt_probes *ps, const dt_probedesc *d, dt_probe ***out)
{
	ps->found.n = 0;
	for (const dt_provider *const *p = dt_provider_table; *p && *d->prov; p++)
		for (uint32_t i = 0; (*p)->means && i < (*p)->id_count; i++) {
			dt_probe *pr;

			if (!provider_claims(*p, d->prov) || !(*p)->means(*p, d, i))
				continue;
			pr = dt_arena_alloc(ps->arena, sizeof(*pr));
			*pr = (dt_probe){.id = (*p)->id_base + i,
					 .provider = *p,
					 .prov = (*p)->name,
					 .mod = "",
					 .func = "",
					 .name = ""};
			*dt_vec_add(&ps->found, NULL) = pr;
		}
	*out = ps->found.v;
	return (int)ps->found.n;
}

/* Is this the name of a provider? (The one that claims all other names does not count.) */
static bool is_provider(const char *word)
{
	if (!*word || dt_glob_is_pattern(word))
		return false;
	for (const dt_provider *const *p = dt_provider_table; *p; p++)
		if (provider_claims(*p, word) && !provider_claims(*p, "nobody's"))
			return true;
	return false;
}

/* Parts are omitted from the left, so with one colon too few the provider becomes a module:
 * syscall:read:entry. */
static void suggest_colons(dt_probes *ps, const dt_probedesc *d, dt_error *err)
{
	const dt_probedesc meant[] = {
	    {.prov = d->mod, .mod = "", .func = d->func, .name = d->name},
	    {.prov = d->mod, .mod = "", .func = d->name, .name = ""},
	    {.prov = d->func, .mod = "", .func = "", .name = d->name},
	    {.prov = d->func, .mod = "", .func = d->name, .name = ""},
	    {.prov = d->name, .mod = "", .func = "", .name = ""},
	};
	dt_error ignored = {0};

	for (size_t i = 0; i < DT_NELEM(meant); i++) {
		const dt_probedesc *m = &meant[i];

		if (*d->prov || !is_provider(m->prov) || (i == 1 && *d->func) ||
		    match_patterns(ps, m, false, &ignored) <= 0)
			continue;
		snprintf(err->text, sizeof(err->text),
			 "%s is a provider; did you mean \"%s::%s:%s\"?", m->prov, m->prov, m->func,
			 m->name);
		break;
	}
	ps->found.n = 0;
}

static bool suggest_words(const dt_probedesc *d, dt_error *err)
{
	dt_buf b = {0};
	bool yes = dt_probe_foreign(d, &b);

	if (yes)
		snprintf(err->text, sizeof(err->text), "in D this is \"%s\"", b.s);
	dt_buf_free(&b);
	return yes;
}

int dt_probes_match(dt_probes *ps, const dt_probedesc *d, bool listing, dt_probe ***out,
		    dt_error *err)
{
	dt_probedesc full = {
	    .id = d->id,
	    .prov = d->prov ? d->prov : "",
	    .mod = d->mod ? d->mod : "",
	    .func = d->func ? d->func : "",
	    .name = d->name ? d->name : "",
	};
	int n;

	*out = NULL;
	memset(err, 0, sizeof(*err));
	if (dt_pdesc_check(&full, err) != 0)
		return -1;
	ps->found.n = 0;
	n = full.id ? match_id(ps, full.id, err) : match_patterns(ps, &full, listing, err);
	if (n == 0 && !full.id && !suggest_words(&full, err) && !err->text[0])
		suggest_colons(ps, &full, err);
	*out = ps->found.v;
	return n;
}

void dt_probedesc_print(const dt_probedesc *d, dt_buf *out)
{
	const char *const fields[] = {d->prov, d->mod, d->func, d->name};
	bool empty = true;

	for (int i = 0; i < 4; i++)
		empty = empty && (!fields[i] || !*fields[i]);
	if (d->id && empty) {
		dt_buf_printf(out, "%u", d->id);
		return;
	}
	if (d->machine)
		dt_buf_printf(out, "%s:", d->machine);
	for (int i = 0; i < 4; i++)
		dt_buf_printf(out, "%s%s", i ? ":" : "", fields[i] ? fields[i] : "");
}
