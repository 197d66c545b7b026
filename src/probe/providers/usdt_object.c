/*
 * usdt_object: files with static probes, read once per session, however many processes map them.
 *
 * A file is known by its device and inode, and read again if it has changed. The helper in the jail parses it (elf/elf.h);
 * what has no probes is remembered as such, without an open descriptor. Most files have none, so where those of many
 * processes are looked at, the helper is first asked about many files at once (dt_usdt_expect()).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/budget.h"
#include "probe/providers/usdt.h"
#include "proc/control.h"

#define MAX_PROVIDERS 1000 /* in one file */

void dt_usdt_objects_free(usdt_objects *all)
{
	for (uint32_t i = 0; i < all->v.n; i++) {
		if (all->v.v[i]->fd >= 0)
			close(all->v.v[i]->fd);
		dt_vec_free(&all->v.v[i]->sites);
		dt_vec_free(&all->v.v[i]->provs);
		free(all->v.v[i]);
	}
	dt_vec_free(&all->v);
	dt_vec_free(&all->waiting);
	dt_map_free(all->without);
	dt_arena_free(all->arena);
}

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

#define AT_ONCE 64 /* names that are made readable: some become very long */

/* The functions that contain the probes, by their names in the source: "f", not "f.cold" or "f.part.0". Many notes can be in
 * a function with a long name: sites that are too many for the arena are left out. */
static void name_functions(dt_arena *a, dt_jail *jail, dt_elf *e, const uint64_t *pcs, size_t most, struct usdt_object *o)
{
	uint32_t n = o->sites.n;
	const char **names = dt_xcalloc(n, sizeof(*names));
	char *plain[AT_ONCE], *name, *dot;

	dt_elf_function_names(e, pcs, n, names);
	o->sites.n = 0;
	for (uint32_t i = 0; i < n; i++)
		names[i] = names[i] ? names[i] : "";
	for (uint32_t i = 0; i < n && dt_arena_used(a) < most; i += AT_ONCE) {
		uint32_t many = n - i < AT_ONCE ? n - i : AT_ONCE;

		dt_demangle_all(jail, names + i, many, false, plain);
		for (uint32_t k = 0; k < many; k++) {
			name = dt_arena_strdup(a, plain[k] ? plain[k] : names[i + k]);
			dot = *name ? strchr(name + 1, '.') : NULL;
			if (dot)
				*dot = 0;
			o->sites.v[o->sites.n++].func = name;
			free(plain[k]);
		}
	}
	free(names);
}

/* A site of a header of ours (session/header.c) has a second nop, which the kernel may turn into a
 * call without harm. (Sites made by others differ: they may be in a function that keeps data below
 * the stack pointer.) Arguments that are found by the address of the first nop need the probe
 * there. */
static uint32_t second_nop(dt_elf *e, uint64_t pc, const struct usdt_site *x)
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
static void join_sites(struct usdt_object *o)
{
	dt_map *last = dt_map_new(); /* names -> the site that had them last */

	for (uint32_t i = 0; i < o->sites.n; i++) {
		struct usdt_site *x = &o->sites.v[i], *before;
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

static void read_sites(dt_arena *a, dt_jail *jail, dt_elf *e, struct usdt_object *o)
{
	size_t it = 0, most = dt_arena_used(a) + DT_MAX_ELF_NOTE;
	DT_VEC(uint64_t) pcs = {0};
	dt_sdt s;

	while (!dt_jail_stopped(jail) && o->sites.n < DT_MAX_PROBE_NOTES &&
	       dt_arena_used(a) < most &&
	       dt_sdt_next(e, &it, &s)) {
		struct usdt_site x = {.args = dt_arena_alloc(a, DT_ATTACH_ARGS * sizeof(dt_sdt_arg))};

		if (!dt_elf_vaddr_to_offset(e, s.pc, &x.offset) ||
		    (s.semaphore && !dt_elf_vaddr_to_offset(e, s.semaphore, &x.ref_ctr)))
			continue;
		x.prov = dt_arena_strdup(a, s.prov);
		x.name = d_name(a, s.name);
		x.nargs = dt_sdt_args(a, e, &s, x.args, DT_ATTACH_ARGS);
		x.call = second_nop(e, s.pc, &x);
		*dt_vec_add(&o->sites, NULL) = x;
		*dt_vec_add(&pcs, NULL) = s.pc;
	}
	if (o->sites.n)
		name_functions(a, jail, e, pcs.v, most, o);
	dt_vec_free(&pcs);
	join_sites(o);
}

static void read_providers(dt_arena *a, const dt_jail *jail, dt_elf *e, struct usdt_object *o)
{
	size_t it = 0, notes = 0;
	dt_sdt s;

	while (!dt_jail_stopped(jail) && notes++ < DT_MAX_PROBE_NOTES && dt_sdt_next(e, &it, &s)) {
		uint32_t k = 0;

		while (k < o->provs.n && strcmp(o->provs.v[k], s.prov) != 0)
			k++;
		if (k == o->provs.n && k < MAX_PROVIDERS)
			*dt_vec_add(&o->provs, NULL) = dt_arena_strdup(a, s.prov);
	}
}

bool dt_usdt_has(const usdt_objects *all, struct usdt_object *o, const char *prov)
{
	struct dt_elf_place place = {.root = o->root, .path = o->file, .jail = all->jail};
	dt_error ignored = {0};
	dt_elf *e = NULL;
	uint32_t k = 0;
	int fd;

	while (k < o->provs.n && !dt_glob_match(prov, o->provs.v[k]))
		k++;
	if (k == o->provs.n)
		return false;
	if (!o->read && (fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 3)) >= 0)
		e = dt_elf_open_fd(fd, &place, &ignored);
	if (e)
		read_sites(all->arena, all->jail, e, o);
	o->read = true;
	dt_elf_free(e);
	return true;
}

bool dt_usdt_is_unchanged(const struct usdt_object *o, const char *path)
{
	struct stat st;

	if (o->fd >= 0 ? fstat(o->fd, &st) < 0 : !o->ours || stat(path, &st) < 0 || st.st_ino != o->inode)
		return true;
	return st.st_size == o->size && st.st_mtim.tv_sec == o->changed.tv_sec &&
	       st.st_mtim.tv_nsec == o->changed.tv_nsec;
}

static struct usdt_object *known_object(const usdt_objects *all, const dt_mapping *m)
{
	for (uint32_t i = all->v.n; i-- > 0;) { /* the latest first */
		struct usdt_object *o = all->v.v[i];

		if (o->inode != m->inode || o->dev_major != m->dev_major || o->dev_minor != m->dev_minor)
			continue;
		if (o->looked != all->look && !dt_usdt_is_unchanged(o, m->path))
			return NULL;
		o->looked = all->look;
		return o;
	}
	return NULL;
}

/* An object that has not been read. */
static struct usdt_object *new_object(dt_arena *a, int fd, const char *root, const dt_mapping *m)
{
	struct usdt_object *o = dt_xcalloc(1, sizeof(*o));
	struct stat st = {0};

	fstat(fd, &st);
	*o = (struct usdt_object){.inode = m->inode,
				  .dev_major = m->dev_major,
				  .dev_minor = m->dev_minor,
				  .size = st.st_size,
				  .changed = st.st_mtim,
				  .ours = !*root,
				  .fd = -1,
				  .file = dt_arena_strdup(a, m->path),
				  .base = dt_arena_strdup(a, m->base),
				  .root = dt_arena_strdup(a, root)};
	return o;
}

/* Takes over the descriptor. With *err it has no providers. */
static void read_object(dt_arena *a, dt_jail *jail, int fd, struct usdt_object *o, dt_error *err)
{
	struct dt_elf_place place = {.root = o->root, .path = o->file, .jail = jail};
	dt_elf *e;

	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	snprintf(o->path, sizeof(o->path), "/proc/self/fd/%d", o->fd);
	e = dt_elf_open_fd(fd, &place, err);
	if (e && o->fd >= 0)
		read_providers(a, jail, e, o);
	dt_elf_free(e);
	if (!o->provs.n && o->fd >= 0) {
		close(o->fd);
		o->fd = -1;
	}
}

/* Takes over the descriptor. may: the object may have probes. */
static struct usdt_object *add_object(usdt_objects *all, int fd, bool may, const char *root, const dt_mapping *m, dt_error *err)
{
	struct usdt_object *o = new_object(all->arena, fd, root, m);

	if (may)
		read_object(all->arena, all->jail, fd, o, err);
	else
		close(fd);
	o->looked = all->look;
	*dt_vec_add(&all->v, NULL) = o;
	if (!all->without)
		all->without = dt_map_new();
	if (!*root)
		dt_map_set(all->without, m->path, o->provs.n ? NULL : o);
	return o;
}

/* Where the paths of a process begin; it is the same for all that it has mapped. */
static const char *root_of(usdt_objects *all, long pid)
{
	if (all->root.pid != pid || all->root.look != all->look)
		dt_proc_root(pid, all->root.path, sizeof(all->root.path));
	all->root.pid = pid;
	all->root.look = all->look;
	return all->root.path;
}

struct usdt_object *dt_usdt_object(usdt_objects *all, long pid, const dt_mapping *m)
{
	struct usdt_object *o = known_object(all, m);
	dt_error ignored = {0};
	int fd;

	if (o)
		return o;
	fd = dt_mapping_open(pid, m);
	return fd < 0 ? NULL : add_object(all, fd, true, root_of(all, pid), m, &ignored);
}

static bool is_waiting(const usdt_objects *all, const dt_mapping *m)
{
	for (uint32_t i = 0; i < all->waiting.n; i++) {
		const dt_mapping *w = all->waiting.v[i].m;

		if (w->inode == m->inode && w->dev_major == m->dev_major && w->dev_minor == m->dev_minor)
			return true;
	}
	return false;
}

void dt_usdt_expect(usdt_objects *all, long pid, const dt_mapping *m)
{
	struct usdt_waiting w = {.m = m};

	if (is_waiting(all, m) || known_object(all, m) || (w.fd = dt_mapping_open(pid, m)) < 0)
		return;
	snprintf(w.root, sizeof(w.root), "%s", root_of(all, pid));
	*dt_vec_add(&all->waiting, NULL) = w;
	if (all->waiting.n == DT_JAIL_FILES)
		dt_usdt_settle(all);
}

void dt_usdt_settle(usdt_objects *all)
{
	int fds[DT_JAIL_FILES];
	bool may[DT_JAIL_FILES];
	dt_error ignored = {0};

	for (uint32_t i = 0; i < all->waiting.n; i++)
		fds[i] = all->waiting.v[i].fd;
	if (all->waiting.n)
		dt_elf_screen(all->jail, fds, all->waiting.n, may);
	for (uint32_t i = 0; i < all->waiting.n; i++)
		add_object(all, fds[i], may[i], all->waiting.v[i].root, all->waiting.v[i].m, &ignored);
	all->waiting.n = 0;
}

struct usdt_object *dt_usdt_file(usdt_objects *all, const char *path, dt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *slash = strrchr(path, '/');
	struct usdt_object *o;
	struct stat st;
	dt_mapping m;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		dt_err(err, fd < 0 ? errno : EINVAL, "%s: %s", path, fd < 0 ? strerror(errno) : "not a file");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	m = (dt_mapping){.inode = st.st_ino,
			 .dev_major = major(st.st_dev),
			 .dev_minor = minor(st.st_dev),
			 .path = path,
			 .base = slash ? slash + 1 : path};
	if ((o = known_object(all, &m))) {
		close(fd);
		return o;
	}
	return add_object(all, fd, true, "", &m, err);
}
