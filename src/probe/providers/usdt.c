/*
 * usdt: static probes in user programs, found by their ELF notes (elf/sdt_notes.h).
 *
 * Two ways to name the provider:
 *
 *	python$target, python123, python*	one process each: the provider of its probes is "python123"
 *	python					every process that has, or will have, one of the files mapped
 *
 * The second form needs existing files: those that running processes have mapped. Files are read
 * once per session, however many processes map them, and only if a description can match a static
 * probe: a provider name that no other provider has. The module is the file's base name, the
 * function the one that the probe is in; "__" in names of probes is "-" in D.
 *
 * During tracing, processes that map a file are examined again, so that probes of programs that
 * start later are added (with -Z even if there are none at first).
 *
 * Arguments are D expressions over the registers (dt_attach.arg); their types are size and sign, or what a provider
 * declaration in the program says. Ids are given in the order of discovery.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/budget.h"
#include "probe/providers/providers.h"
#include "proc/control.h"
#include "proc/mappings.h"
#include "proc/sideband.h"
#include "elf/sdt_notes.h"

#define MAX_SUGGESTED 1000 /* names to search for a similar one */

struct site { /* one note */
	const char *prov, *name, *func; /* as D has them */
	uint64_t offset, ref_ctr;	/* in the file */
	uint32_t call;			/* dt_attach.call */
	dt_sdt_arg *args;
	int nargs; /* -1: not understood */
	/* Sites with the same names, in one function, are one probe. */
	uint32_t next;	/* of those, in order; 0: none */
	bool is_first;
};

/*
 * A file as it was when it was read. Programs are rebuilt while they are traced, often in the same
 * file or with the inode number of the old one: a probe at the old place would do harm.
 */
struct object {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	off_t size;
	struct timespec changed;
	bool ours;	/* its path is below our own root */
	int fd;		/* if it has sites; else -1 */
	char path[32];	/* to open it again */
	const char *base;
	DT_VEC(struct site) sites;
};

struct placed { /* what dt_probe.data points to: a site in a process, or in all */
	const struct object *object;
	uint32_t site;	  /* the first of those with its names */
	long pid;	  /* 0: all */
	uint32_t id;
};

struct usdt {
	DT_VEC(struct object *) objects;
	DT_VEC(struct placed) placed;
	dt_map *is_placed; /* keys of these (place_once) */
	dt_map *without; /* paths below our own root -> objects that have no static probes */
	/* During tracing: processes with new mappings; a search covers only them. */
	DT_VEC(long) fresh;
	bool searched; /* these processes; new ones are for the next search */
};

static void free_usdt(void *arg)
{
	struct usdt *u = arg;

	for (uint32_t i = 0; u && i < u->objects.n; i++) {
		if (u->objects.v[i]->fd >= 0)
			close(u->objects.v[i]->fd);
		dt_vec_free(&u->objects.v[i]->sites);
		free(u->objects.v[i]);
	}
	if (u) {
		dt_vec_free(&u->objects);
		dt_vec_free(&u->placed);
		dt_vec_free(&u->fresh);
		dt_map_free(u->without);
		dt_map_free(u->is_placed);
	}
	free(u);
}

static struct usdt *state(const dt_provider *p, dt_probes *ps)
{
	void **kept = dt_probes_keep(ps, p, free_usdt);

	if (!*kept) {
		*kept = dt_xcalloc(1, sizeof(struct usdt));
		((struct usdt *)*kept)->without = dt_map_new();
		((struct usdt *)*kept)->is_placed = dt_map_new();
	}
	return *kept;
}

/* ---- reading objects ---- */

/* gc__start -> gc-start */
static const char *d_name(dt_arena *a, const char *name)
{
	char *s = dt_arena_strdup(a, name), *to = s;

	for (const char *from = s; *from; from++, to++) {
		*to = *from;
		if (from[0] == '_' && from[1] == '_') {
			*to = '-';
			from++;
		}
	}
	*to = 0;
	return s;
}

/* The function that contains a probe, by its name in the source: "f", not "f.cold" or "f.part.0". */
static const char *function_name(dt_arena *a, dt_jail *jail, dt_elf *e, uint64_t pc)
{
	const dt_elfsym *sym = dt_elf_function_at(e, pc);
	char *plain = NULL, *name, *dot;

	if (sym)
		dt_demangle_all(jail, &sym->name, 1, false, &plain);
	name = dt_arena_strdup(a, plain ? plain : sym ? sym->name : "");
	free(plain);
	dot = *name ? strchr(name + 1, '.') : NULL;
	if (dot)
		*dot = 0;
	return name;
}

/* A site of a header of ours (session/header.c) has a second nop, which the kernel may turn into a
 * call without harm. (Sites made by others differ: they may be in a function that keeps data below
 * the stack pointer.) Arguments that are found by the address of the first nop need the probe
 * there. */
static uint32_t second_nop(dt_elf *e, uint64_t pc, const struct site *x)
{
	const struct dt_arch_site *ours = &dt_arch_host()->site;
	uint8_t code[UINT8_MAX];
	char own_pc[16];

	if (!ours->call || dt_elf_read(e, pc, code, ours->size) != ours->size ||
	    memcmp(code, ours->bytes, ours->size) != 0)
		return 0;
	snprintf(own_pc, sizeof(own_pc), "uregs[%u]", dt_arch_host()->pc);
	for (int i = 0; i < x->nargs; i++)
		if (x->args[i].text && strstr(x->args[i].text, own_pc))
			return 0;
	return ours->call;
}

/* Chain the sites that are one probe. */
static void join_sites(struct object *o)
{
	dt_map *last = dt_map_new(); /* names -> the site that had them last */

	for (uint32_t i = 0; i < o->sites.n; i++) {
		struct site *x = &o->sites.v[i], *before;
		char *key = dt_xasprintf("%s:%s:%s", x->prov, x->name, x->func);

		before = dt_map_get(last, key);
		x->is_first = before == NULL;
		if (before)
			before->next = i;
		dt_map_set(last, key, x);
		free(key);
	}
	dt_map_free(last);
}

static void read_sites(dt_arena *a, dt_jail *jail, dt_elf *e, struct object *o)
{
	size_t it = 0, start = dt_arena_used(a); /* many notes can be in a function with a long name */
	dt_sdt s;

	while (!dt_jail_stopped(jail) && o->sites.n < DT_MAX_PROBE_NOTES &&
	       dt_arena_used(a) - start < DT_MAX_ELF_NOTE &&
	       dt_sdt_next(e, &it, &s)) {
		struct site x = {.args = dt_arena_alloc(a, DT_ATTACH_ARGS * sizeof(dt_sdt_arg))};

		if (!dt_elf_vaddr_to_offset(e, s.pc, &x.offset) ||
		    (s.semaphore && !dt_elf_vaddr_to_offset(e, s.semaphore, &x.ref_ctr)))
			continue;
		x.prov = dt_arena_strdup(a, s.prov);
		x.name = d_name(a, s.name);
		x.func = function_name(a, jail, e, s.pc);
		x.nargs = dt_sdt_args(a, e, &s, x.args, DT_ATTACH_ARGS);
		x.call = second_nop(e, s.pc, &x);
		*dt_vec_add(&o->sites, NULL) = x;
	}
	join_sites(o);
}

/* Is the file unchanged? If it is not open, the one at the path is checked, if it is the same one. */
static bool is_unchanged(const struct object *o, const char *path)
{
	struct stat st;

	if (o->fd >= 0 ? fstat(o->fd, &st) < 0 : !o->ours || stat(path, &st) < 0 || st.st_ino != o->inode)
		return true;
	return st.st_size == o->size && st.st_mtim.tv_sec == o->changed.tv_sec &&
	       st.st_mtim.tv_nsec == o->changed.tv_nsec;
}

static struct object *known_object(const struct usdt *u, const dt_mapping *m)
{
	for (uint32_t i = u->objects.n; i-- > 0;) { /* the latest first */
		struct object *o = u->objects.v[i];

		if (o->inode == m->inode && o->dev_major == m->dev_major && o->dev_minor == m->dev_minor)
			return is_unchanged(o, m->path) ? o : NULL;
	}
	return NULL;
}

/* Read an object; takes over the descriptor. */
static struct object *new_object(dt_arena *a, dt_jail *jail, int fd, const char *root, const dt_mapping *m)
{
	struct dt_elf_place place = {.root = root, .path = m->path, .jail = jail};
	struct object *o = dt_xcalloc(1, sizeof(*o));
	dt_error ignored = {0};
	struct stat st = {0};
	dt_elf *e;

	fstat(fd, &st);
	*o = (struct object){.inode = m->inode,
			     .dev_major = m->dev_major,
			     .dev_minor = m->dev_minor,
			     .size = st.st_size,
			     .changed = st.st_mtim,
			     .ours = !*root,
			     .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
			     .base = dt_arena_strdup(a, m->base)};
	snprintf(o->path, sizeof(o->path), "/proc/self/fd/%d", o->fd);
	e = dt_elf_open_fd(fd, &place, &ignored);
	if (e && o->fd >= 0)
		read_sites(a, jail, e, o);
	dt_elf_free(e);
	if (!o->sites.n && o->fd >= 0) {
		close(o->fd);
		o->fd = -1;
	}
	return o;
}

/* The object of a mapping, read when it is first seen; NULL: it cannot be opened, the process may
 * have ended. */
static struct object *object_of(struct usdt *u, dt_probes *ps, long pid, const dt_mapping *m)
{
	struct object *o = known_object(u, m);
	char root[64];
	int fd;

	if (o)
		return o;
	dt_proc_root(pid, root, sizeof(root));
	fd = dt_map_open(pid, m);
	if (fd < 0)
		return NULL;
	o = new_object(dt_probes_arena(ps), dt_procs_jail(dt_probes_procs(ps)), fd, root, m);
	*dt_vec_add(&u->objects, NULL) = o;
	if (!*root)
		dt_map_set(u->without, m->path, o->sites.n ? NULL : o);
	return o;
}

/* ---- from objects to probes ---- */

/* False: it already exists. */
static bool place_once(struct usdt *u, const struct object *o, uint32_t site, long pid)
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
	bool by_pid;   /* its probes are of one process each */
	long owner;    /* not 0: of this one, also those that it is followed to run */
	uint32_t seen; /* sites of such a provider, whatever their names */
	bool named;    /* one of them has the requested name */
	DT_VEC(const char *) names;
};

static void place(struct search *s, const struct object *o, uint32_t i, long pid)
{
	long owner = !s->by_pid ? 0 : s->owner ? s->owner : pid;
	const struct site *x = &o->sites.v[i];
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

static void search_process(struct search *s, long pid)
{
	const dt_jail *jail = dt_procs_jail(dt_probes_procs(s->ps));
	dt_error ignored = {0};
	dt_maps *maps = dt_jail_stopped(jail) ? NULL : dt_maps_read(pid, &ignored);

	for (uint32_t i = 0; maps && i < maps->n && !dt_jail_stopped(jail); i++) {
		const dt_mapping *m = &maps->v[i];
		const struct object *o;

		if (m->kind != DT_MAP_FILE || !m->exec)
			continue;
		o = object_of(s->u, s->ps, pid, m);
		for (uint32_t k = 0; o && k < o->sites.n && !dt_jail_stopped(jail); k++)
			place(s, o, k, pid);
	}
	dt_maps_free(maps);
}

static void search_all(struct search *s)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			search_process(s, atol(e->d_name));
	if (d)
		closedir(d);
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

/* "python123" -> "python", 123; 0: no process in it. */
static long split_pid(const char *prov, char *name, size_t n)
{
	size_t len = strlen(prov), digits = len;

	while (digits > 0 && isdigit((unsigned char)prov[digits - 1]))
		digits--;
	if (digits == 0 || digits == len || len - digits > 9 || dt_glob_is_pattern(prov))
		return 0;
	snprintf(name, n, "%.*s", (int)digits, prov);
	return atol(prov + digits);
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

/* Every provider name that no other provider claims may be a static one; pid123 belongs to the pid
 * provider. */
static bool claims(const dt_provider *p, const char *pattern)
{

	if (!*pattern)
		return false;
	if (strncmp(pattern, "pid", 3) == 0 && strspn(pattern + 3, "0123456789*") == strlen(pattern + 3))
		return false;
	for (const dt_provider *const *other = dt_provider_table; *other; other++)
		if (*other != p && strcmp((*other)->name, pattern) == 0)
			return false;
	return strcmp(pattern, "*") != 0;
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
	dt_vec_free(&s->names);
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
		snprintf(why, whylen, "process %ld has no static probes of a provider named %s%s", pid, s->name,
			 s->listing ? "" : "; if a library that it loads later has them, -Z waits for it");
	s->owner = 0;
}

static void search(struct search *s, char *why, size_t whylen)
{
	const char *prov = s->d->prov;
	long pid = split_pid(prov, s->name, sizeof(s->name));

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

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing, char *why,
		    size_t whylen)
{
	struct search s = {.p = p, .ps = ps, .u = state(p, ps), .d = d, .listing = listing};

	if (!d->id) /* ids are of this session only */
		search(&s, why, whylen);
	explain_name(&s, why, whylen);
	return 0;
}

/* ---- while tracing ---- */

static uint32_t grows(const dt_provider *p, const dt_probedesc *d)
{
	(void)p, (void)d;
	return 1u << DT_AT_UPROBE;
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
	const struct object *without = file && file->root == 0 ? dt_map_get(u->without, file->path) : NULL;

	(void)d; /* of this process, or the one it is followed from */
	if (!file || file->vdso || (without && is_unchanged(without, file->path)))
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

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	const struct placed *at = placed_of(p, ps, pr);
	const struct site *x = &at->object->sites.v[at->site];
	int n = 0;

	(void)xlated, (void)mapping;
	for (; n < x->nargs && n < max; n++)
		native[n] = x->args[n].type;
	return x->nargs < 0 ? -1 : n;
}

static void attach_site(dt_probes *ps, const struct placed *here, const struct site *x, dt_attach *at)
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
	const struct object *o = here->object;

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
    .grows = grows,
    .news = news,
    .forked = forked,
    .discover = discover,
    .args = args,
    .attach = attach,
};
