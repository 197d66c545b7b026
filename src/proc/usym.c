/*
 * usym: see usym.h.
 *
 * An object is opened, and its symbols are read, when the first address in one of its mappings is
 * looked up. Two mappings belong to one object if device, inode and build id of the opened file are
 * the same: any user can make a file with the build id of another one, and other names.
 * dt_usyms_trim() forgets the least recently used objects and perf maps above the budget
 * (base/budget.h); this never happens implicitly, so names stay valid while a stack is printed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "proc/perfmap.h"
#include "proc/usym.h"

#define VSYSCALL 0xffffffffff600000ull
#define SLOTS	 4096 /* files whose object is remembered */

struct object {
	dt_elf *elf;
	char *key;   /* device, inode and build id */
	bool shrunk; /* without its file */
	bool told;   /* what was not read of it */
	uint64_t used;
	struct object *next;
};

struct slot { /* what dt_file.id stands for */
	uint32_t file;
	struct object *object; /* NULL: cannot be opened */
};

struct perfmap {
	dt_usyms *us;
	long pid;
	dt_perfmap *map;
	uint64_t used;
	struct perfmap *next;
};

struct dt_usyms {
	dt_sideband *sb;
	bool raw_names;
	char *debug_dir;
	size_t max_memory;
	uint64_t clock; /* counts uses */
	const dt_stop *stop;
	dt_jail *jail;
	struct object *objects;
	dt_map *by_key;		  /* -> object */
	struct slot slots[SLOTS]; /* by dt_file.id % SLOTS */
	struct perfmap *perfmaps;
	dt_map *names;	 /* as in the file -> as shown */
	dt_arena *arena; /* what is shown */
	uint32_t nnames;
	uint64_t trimmed; /* the clock then */
};

dt_usyms *dt_usyms_new(dt_sideband *sb, const struct dt_usyms_opts *opts)
{
	dt_usyms *us = dt_xcalloc(1, sizeof(*us));

	us->sb = sb;
	us->raw_names = opts->raw_names;
	us->debug_dir = opts->debug_dir ? dt_xstrdup(opts->debug_dir) : NULL;
	us->max_memory = opts->max_memory ? opts->max_memory : DT_MAX_SYMBOL_MEMORY;
	us->stop = opts->stop;
	us->jail = opts->jail;
	us->by_key = dt_map_new();
	us->names = dt_map_new();
	us->arena = dt_arena_new();
	return us;
}

static void free_object(struct object *o)
{
	dt_elf_free(o->elf);
	free(o->key);
	free(o);
}

static void free_perfmap(struct perfmap *p)
{
	dt_perfmap_free(p->map);
	free(p);
}

void dt_usyms_free(dt_usyms *us)
{
	if (!us)
		return;
	for (struct object *o = us->objects, *next; o; o = next) {
		next = o->next;
		free_object(o);
	}
	for (struct perfmap *p = us->perfmaps, *next; p; p = next) {
		next = p->next;
		free_perfmap(p);
	}
	dt_map_free(us->by_key);
	dt_map_free(us->names);
	dt_arena_free(us->arena);
	free(us->debug_dir);
	free(us);
}

/* ---- objects ---- */

/* The vDSO is the kernel's: ours is the same as that of every process of our word size. */
static dt_elf *open_vdso(void)
{
	uint64_t at = getauxval(AT_SYSINFO_EHDR);
	dt_error err;
	dt_maps *maps = at ? dt_maps_read(getpid(), &err) : NULL;
	const dt_mapping *m = maps ? dt_maps_find(maps, at) : NULL;
	dt_elf *e = NULL;

	if (m && m->kind == DT_MAP_VDSO)
		e = dt_elf_open_memory((const void *)(uintptr_t)m->start, m->end - m->start, &err);
	dt_maps_free(maps);
	return e;
}

static dt_elf *open_elf(dt_usyms *us, const dt_file *f)
{
	char root[64];
	struct dt_elf_place place = {.root = root,
				     .path = f->path,
				     .debug_dir = us->debug_dir,
				     .stop = us->stop,
				     .jail = us->jail};
	dt_error err;
	int fd;

	if (f->vdso)
		return open_vdso();
	fd = f->anon ? -1 : dt_sideband_open_file(us->sb, f);
	if (fd < 0)
		return NULL;
	dt_sideband_root(us->sb, f, root, sizeof(root));
	return dt_elf_open_fd(fd, &place, &err);
}

static char *key_of(const dt_elf *e)
{
	uint32_t n;
	const uint8_t *id = dt_elf_build_id(e, &n);
	struct stat st = {0};
	dt_buf b = {0};

	if (dt_elf_fd(e) >= 0)
		fstat(dt_elf_fd(e), &st);
	dt_buf_printf(&b, "%llx:%llx:", (unsigned long long)st.st_dev,
		      (unsigned long long)st.st_ino);
	for (uint32_t i = 0; i < n; i++)
		dt_buf_printf(&b, "%02x", id[i]);
	return b.s;
}

/* The object of a file; NULL: it cannot be opened. */
static struct object *load_object(dt_usyms *us, const dt_file *f)
{
	dt_elf *e = open_elf(us, f);
	struct object *o;
	char *key;

	if (!e)
		return NULL;
	key = key_of(e);
	o = dt_map_get(us->by_key, key);
	if (o) {
		dt_elf_free(e);
		free(key);
		return o;
	}
	o = dt_xcalloc(1, sizeof(*o));
	o->elf = e;
	o->key = key;
	o->next = us->objects;
	us->objects = o;
	dt_map_set(us->by_key, key, o);
	return o;
}

static struct object *need_object(dt_usyms *us, const dt_file *f)
{
	struct slot *s = &us->slots[f->id % SLOTS];

	if (s->file != f->id)
		*s = (struct slot){.file = f->id, .object = load_object(us, f)};
	if (s->object)
		s->object->used = ++us->clock;
	return s->object;
}

static dt_elf *open_object(dt_usyms *us, const dt_file *f)
{
	struct object *o = need_object(us, f);
	dt_elf *e;

	if (o && o->shrunk && (e = open_elf(us, f))) {
		dt_elf_free(o->elf);
		o->elf = e;
		o->shrunk = false;
	}
	return o ? o->elf : NULL;
}

/* Does this vaddr belong to the object? */
static bool covers(dt_elf *e, uint64_t vaddr)
{
	const struct dt_elf_segment *s;
	uint32_t n = dt_elf_segments(e, &s);

	for (uint32_t i = 0; i < n; i++)
		if (vaddr >= s[i].vaddr && vaddr - s[i].vaddr < s[i].mem_size)
			return true;
	return false;
}

/* A library may have been closed, and other data may be at its address: as long as the process
 * lives and runs the same program, /proc is checked. An exiting process has no mappings. After a
 * file's data comes its zero-filled part, without a file. */
static bool has_data(dt_usyms *us, long pid, uint64_t time, uint64_t addr, const dt_file *f)
{
	dt_error err;
	dt_maps *maps = dt_sideband_is_current(us->sb, pid, time) ? dt_maps_read(pid, &err) : NULL;
	const dt_mapping *m = maps ? dt_maps_find(maps, addr) : NULL;
	bool ok;

	if (m && m->kind != DT_MAP_FILE && m > maps->v && m[-1].end == m->start)
		m--;
	/* paths depend on the root directory */
	ok = !maps || maps->n == 0 || (m && strcmp(m->base, f->base) == 0);
	dt_maps_free(maps);
	return ok;
}

/* The mapping that an address is in; or for data, the text of the object that it belongs to. */
static bool find_map(dt_usyms *us, long pid, uint64_t time, uint64_t addr, dt_umap *m)
{
	uint64_t bias;
	uint32_t it = 0;

	if (dt_sideband_find(us->sb, pid, time, addr, m))
		return !m->file->anon;
	while (!dt_stopped(us->stop) && dt_sideband_next(us->sb, pid, time, &it, m)) {
		struct object *o = need_object(us, m->file);

		if (o && dt_elf_bias(o->elf, m->start, m->offset, &bias) &&
		    covers(o->elf, addr - bias) && has_data(us, pid, time, addr, m->file))
			return true;
	}
	return false;
}

dt_elf *dt_usym_object(dt_usyms *us, long pid, uint64_t time, uint64_t addr, uint64_t *bias)
{
	dt_umap m;
	dt_elf *e;

	if (!find_map(us, pid, time, addr, &m) || !(e = open_object(us, m.file)) ||
	    !dt_elf_bias(e, m.start, m.offset, bias))
		return NULL;
	return e;
}

/* ---- names ---- */

/* The name as shown: demangled, printable. Cached, because the same names recur. */
static const char *show(dt_usyms *us, const char *name)
{
	const char *shown = dt_map_get(us->names, name);
	char *pretty, *copy;

	if (shown)
		return shown;
	pretty = NULL;
	if (!us->raw_names)
		dt_demangle_all(us->jail, &name, 1, true, &pretty);
	copy = dt_arena_strdup(us->arena, pretty ? pretty : name);
	free(pretty);
	dt_make_safe(copy, strlen(copy), false);
	dt_map_set(us->names, name, copy);
	us->nnames++;
	return copy;
}

static void name_in_object(dt_usyms *us, const dt_umap *m, uint64_t addr, dt_usym *s)
{
	struct object *o = need_object(us, m->file);
	const dt_elfsym *sym;
	uint64_t bias;

	s->object = show(us, m->file->base);
	s->base = m->start - m->offset;
	if (!o || !dt_elf_bias(o->elf, m->start, m->offset, &bias))
		return;
	sym = dt_elf_function_at(o->elf, addr - bias);
	if (!sym)
		sym = dt_elf_data_at(o->elf, addr - bias);
	if (!sym)
		return;
	s->name = show(us, sym->name);
	s->start = sym->vaddr + bias;
	s->offset = addr - s->start;
}

/* ---- perf maps ---- */

static bool may_own_map(void *arg, uid_t uid)
{
	const struct perfmap *p = arg;

	return dt_sideband_owns(p->us->sb, p->pid, uid);
}

static struct perfmap *need_perfmap(dt_usyms *us, long pid)
{
	struct perfmap *p;
	char name[64], *path;

	for (p = us->perfmaps; p; p = p->next)
		if (p->pid == pid)
			break;
	if (!p) {
		p = dt_xcalloc(1, sizeof(*p));
		p->pid = pid;
		snprintf(name, sizeof(name), "/tmp/perf-%ld.map", dt_proc_inner_pid(pid));
		path = dt_sideband_path(us->sb, pid, name);
		p->us = us;
		p->map = dt_perfmap_new(path, us->jail, may_own_map, p);
		free(path);
		p->next = us->perfmaps;
		us->perfmaps = p;
	}
	p->used = ++us->clock;
	return p;
}

static bool name_of_jit(dt_usyms *us, long pid, uint64_t addr, dt_usym *s)
{
	const char *name = dt_perfmap_find(need_perfmap(us, pid)->map, addr, &s->start);

	if (!name)
		return false;
	s->jit = true;
	s->object = "[jit]";
	s->name = show(us, name);
	s->offset = addr - s->start;
	return true;
}

bool dt_usym_by_addr(dt_usyms *us, long pid, uint64_t time, uint64_t addr, dt_usym *s)
{
	dt_umap m;

	memset(s, 0, sizeof(*s));
	if (find_map(us, pid, time, addr, &m)) {
		name_in_object(us, &m, addr, s);
		return true;
	}
	if (addr >= VSYSCALL && addr - VSYSCALL < 4096) {
		s->object = "[vsyscall]";
		s->base = VSYSCALL;
		return true;
	}
	return pid > 0 && name_of_jit(us, pid, addr, s);
}

/* ---- memory ---- */

static void forget_object(dt_usyms *us, struct object *gone)
{
	struct object **at = &us->objects;

	for (uint32_t i = 0; i < SLOTS; i++)
		if (us->slots[i].object == gone)
			us->slots[i] = (struct slot){0};
	dt_map_del(us->by_key, gone->key);
	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	free_object(gone);
}

static void forget_perfmap(dt_usyms *us, struct perfmap *gone)
{
	struct perfmap **at = &us->perfmaps;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	free_perfmap(gone);
}

/* Release the least recently used one. False: there is none. */
static bool forget_oldest(dt_usyms *us)
{
	struct object *o = us->objects;
	struct perfmap *p = us->perfmaps;

	for (struct object *i = us->objects; i; i = i->next)
		if (i->used < o->used)
			o = i;
	for (struct perfmap *i = us->perfmaps; i; i = i->next)
		if (i->used < p->used)
			p = i;
	if (!o && !p)
		return false;
	if (p && (!o || p->used < o->used))
		forget_perfmap(us, p);
	else
		forget_object(us, o);
	return true;
}

static size_t memory(const dt_usyms *us)
{
	size_t n = 0;

	for (struct object *o = us->objects; o; o = o->next)
		n += dt_elf_memory(o->elf) + sizeof(*o);
	for (struct perfmap *p = us->perfmaps; p; p = p->next)
		n += dt_perfmap_memory(p->map);
	return n;
}

/* Objects with an open file: the least recently used close theirs. */
static void close_files(dt_usyms *us)
{
	uint32_t n = 0;

	for (struct object *o = us->objects; o; o = o->next)
		n += !o->shrunk;
	for (; n > DT_MAX_OPEN_OBJECTS; n--) {
		struct object *oldest = NULL;

		for (struct object *o = us->objects; o; o = o->next)
			if (!o->shrunk && (!oldest || o->used < oldest->used))
				oldest = o;
		dt_elf_shrink(oldest->elf);
		oldest->shrunk = true;
	}
}

char *dt_usyms_problem(dt_usyms *us)
{
	char *text;

	for (struct object *o = us->objects; o; o = o->next) {
		const char *why = o->told ? NULL : dt_elf_problem(o->elf);

		if (!why)
			continue;
		o->told = true;
		text = dt_xasprintf("%s: %s", dt_elf_path(o->elf), why);
		dt_make_safe(text, strlen(text), false);
		return text;
	}
	return NULL;
}

void dt_usyms_trim(dt_usyms *us)
{
	if (us->clock == us->trimmed)
		return;
	us->trimmed = us->clock;
	close_files(us);
	while (memory(us) > us->max_memory && forget_oldest(us))
		;
	if (us->nnames <= DT_MAX_SHOWN_NAMES && dt_arena_used(us->arena) <= DT_MAX_SHOWN_MEMORY)
		return;
	dt_map_free(us->names);
	us->names = dt_map_new();
	dt_arena_reset(us->arena);
	us->nnames = 0;
}
