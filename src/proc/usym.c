/*
 * usym: see usym.h.
 *
 * An object is opened when the first address in one of its mappings is asked for, and its symbols
 * are read then. Two files with the same build id (a library under two paths, or once known by
 * inode and once by build id) are one object. dt_usyms_trim() lets go of the least recently used
 * objects and perf maps beyond the bound; it is never done behind the caller's back, so names stay
 * good while a stack is printed.
 *
 * The text that a file or a JIT compiler gives us goes to terminals: what is not printable becomes
 * '?'.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "proc/perfmap.h"
#include "proc/usym.h"

#define MAX_MEMORY ((size_t)128 << 20)
#define MAX_OPEN   128 /* objects that keep their file open */
#define MAX_NAMES  65536
#define VSYSCALL   0xffffffffff600000ull

struct object {
	dt_elf *elf; /* NULL: cannot be opened */
	bool shrunk; /* without its file */
	uint64_t used;
	struct object *next;
};

struct perfmap {
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
	struct object *objects;
	dt_map *by_build_id;		 /* -> object */
	DT_VEC(struct object *) by_file; /* by dt_file.id */
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
	us->max_memory = opts->max_memory ? opts->max_memory : MAX_MEMORY;
	us->by_build_id = dt_map_new();
	us->names = dt_map_new();
	us->arena = dt_arena_new();
	return us;
}

static void free_object(struct object *o)
{
	dt_elf_free(o->elf);
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
	dt_vec_free(&us->by_file);
	dt_map_free(us->by_build_id);
	dt_map_free(us->names);
	dt_arena_free(us->arena);
	free(us->debug_dir);
	free(us);
}

/* ---- objects ---- */

/* The vDSO is the kernel's: ours is everybody's, at least everybody's of our word size. */
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
	struct dt_elf_place place = {.root = root, .path = f->path, .debug_dir = us->debug_dir};
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

static void build_id_text(const uint8_t *id, uint32_t n, char *to)
{
	to[0] = 0;
	for (uint32_t i = 0; i < n && i < 64; i++)
		sprintf(to + 2 * i, "%02x", id[i]);
}

static struct object *new_object(dt_usyms *us, dt_elf *elf)
{
	struct object *o = dt_xcalloc(1, sizeof(*o));

	o->elf = elf;
	o->next = us->objects;
	us->objects = o;
	return o;
}

/* The object of a file that has none yet. */
static struct object *load_object(dt_usyms *us, const dt_file *f)
{
	char key[2 * 64 + 1];
	struct object *o = NULL;
	const uint8_t *id;
	uint32_t n;
	dt_elf *e;

	build_id_text(f->build_id, f->build_id_len, key);
	if (key[0] && (o = dt_map_get(us->by_build_id, key)))
		return o;
	e = open_elf(us, f);
	if (!e)
		return new_object(us, NULL);
	id = dt_elf_build_id(e, &n);
	build_id_text(id, n, key);
	if (key[0] && (o = dt_map_get(us->by_build_id, key)) && o->elf) {
		dt_elf_free(e);
		return o;
	}
	o = new_object(us, e);
	if (key[0])
		dt_map_set(us->by_build_id, key, o);
	return o;
}

static struct object *need_object(dt_usyms *us, const dt_file *f)
{
	while (us->by_file.n <= f->id)
		*dt_vec_add(&us->by_file, NULL) = NULL;
	if (!us->by_file.v[f->id])
		us->by_file.v[f->id] = load_object(us, f);
	us->by_file.v[f->id]->used = ++us->clock;
	return us->by_file.v[f->id];
}

dt_elf *dt_usym_elf(dt_usyms *us, const dt_file *f)
{
	struct object *o = need_object(us, f);
	dt_elf *e;

	if (o->shrunk && (e = open_elf(us, f))) {
		dt_elf_free(o->elf);
		o->elf = e;
		o->shrunk = false;
	}
	return o->elf;
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

/* A library may have been closed, and its place been taken by other data: as long as the process
 * lives, ask. Behind a file's data comes what it has of zeroes, without a file. */
static bool has_data(dt_usyms *us, long pid, uint64_t addr, const dt_file *f)
{
	dt_error err;
	dt_maps *maps = dt_sideband_exited(us->sb, pid) ? NULL : dt_maps_read(pid, &err);
	const dt_mapping *m = maps ? dt_maps_find(maps, addr) : NULL;
	bool ok;

	if (m && m->kind != DT_MAP_FILE && m > maps->v && m[-1].end == m->start)
		m--;
	ok = !maps || (m && strcmp(m->base, f->base) == 0); /* paths depend on who looks */
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
	while (dt_sideband_next(us->sb, pid, time, &it, m)) {
		struct object *o = need_object(us, m->file);

		if (o->elf && dt_elf_bias(o->elf, m->start, m->offset, &bias) &&
		    covers(o->elf, addr - bias) && has_data(us, pid, addr, m->file))
			return true;
	}
	return false;
}

dt_elf *dt_usym_object(dt_usyms *us, long pid, uint64_t time, uint64_t addr, uint64_t *bias)
{
	dt_umap m;
	dt_elf *e;

	if (!find_map(us, pid, time, addr, &m) || !(e = dt_usym_elf(us, m.file)) ||
	    !dt_elf_bias(e, m.start, m.offset, bias))
		return NULL;
	return e;
}

/* ---- names ---- */

/* As it is shown: demangled, printable. Kept, because the same names come again and again. */
static const char *show(dt_usyms *us, const char *name)
{
	const char *shown = dt_map_get(us->names, name);
	char *pretty, *copy;

	if (shown)
		return shown;
	pretty = us->raw_names ? NULL : dt_demangle(name, true);
	copy = dt_arena_strdup(us->arena, pretty ? pretty : name);
	free(pretty);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
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
	if (!o->elf || !dt_elf_bias(o->elf, m->start, m->offset, &bias))
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
		p->map = dt_perfmap_new(path);
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
	const char *key;
	uint32_t it = 0;
	void *value;

	for (uint32_t i = 0; i < us->by_file.n; i++)
		if (us->by_file.v[i] == gone)
			us->by_file.v[i] = NULL;
	while (dt_map_next(us->by_build_id, &it, &key, &value)) {
		if (value == gone) {
			dt_map_set(us->by_build_id, key, NULL);
			break;
		}
	}
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

/* Let go of what was not used for the longest time. False: there is nothing. */
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
		n += o->elf ? dt_elf_memory(o->elf) : 0;
	for (struct perfmap *p = us->perfmaps; p; p = p->next)
		n += dt_perfmap_memory(p->map);
	return n;
}

/* Objects with an open file: the longest unused give theirs up. */
static void close_files(dt_usyms *us)
{
	uint32_t n = 0;

	for (struct object *o = us->objects; o; o = o->next)
		n += o->elf && !o->shrunk;
	for (; n > MAX_OPEN; n--) {
		struct object *oldest = NULL;

		for (struct object *o = us->objects; o; o = o->next)
			if (o->elf && !o->shrunk && (!oldest || o->used < oldest->used))
				oldest = o;
		dt_elf_shrink(oldest->elf);
		oldest->shrunk = true;
	}
}

void dt_usyms_trim(dt_usyms *us)
{
	if (us->clock == us->trimmed)
		return;
	us->trimmed = us->clock;
	close_files(us);
	while (memory(us) > us->max_memory && forget_oldest(us))
		;
	if (us->nnames <= MAX_NAMES)
		return;
	dt_map_free(us->names);
	us->names = dt_map_new();
	dt_arena_reset(us->arena);
	us->nnames = 0;
}
