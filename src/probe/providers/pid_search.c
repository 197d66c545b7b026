/*
 * pid_search: from descriptions to probes of the pid provider.
 *
 * For each object that a process has mapped and whose name matches, the functions are compared with
 * the description. Matches are added to the registry; if there are none, the error gives the
 * reason, its tag and the nearest name. The process is held meanwhile (proc/control.h), so that its
 * mappings do not change.
 *
 * The compiler and the session ask for the same description several times: so searches are
 * remembered together with the mappings at that time.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/budget.h"
#include "probe/providers/pid.h"
#include "proc/control.h"
#include "proc/mappings.h"
#include "proc/needed.h"

#define MAX_PROBES 250000

/* ---- searching ---- */

struct search {
	const dt_provider *p;
	dt_probes *ps;
	struct pid_state *st;
	const dt_probedesc *d;
	const char *prov;
	struct pid_place like;		     /* the object being searched */
	uint32_t objects, functions, probes; /* that matched so far */
	struct pid_object *object;	     /* the last that was searched; NULL: none */
	bool listing, too_many;
	void (*found)(void *arg, struct pid_object *o, const char *base); /* gets the objects; NULL: their functions are searched */
	void *found_arg;
	enum dt_tag tag; /* why nothing did */
	char *why;
	size_t whylen;
};

static void blame(struct search *s, enum dt_tag tag, const char *fmt, ...) DT_PRINTF(3, 4);
static void blame(struct search *s, enum dt_tag tag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->why, s->whylen, fmt, ap);
	va_end(ap);
	s->tag = tag;
}

static void add(struct search *s, const struct pid_place *x, const char *func, const char *name)
{
	struct pid_state *st = s->st;
	char key[160];

	s->probes++;
	snprintf(key, sizeof(key), "%ld %p %llx %s", x->pid, (void *)x->f.object,
		 (unsigned long long)(x->what == PID_ADDRESS ? 0 : x->f.vaddr), name);
	if (x->what != PID_ADDRESS && x->f.vaddr != x->f.object->funcs[x->f.index].vaddr)
		snprintf(key + strlen(key), sizeof(key) - strlen(key), " %u",
			 x->f.index); /* an IFUNC has its own */
	if (dt_map_get(st->known, key))
		return;
	if (st->n == MAX_PROBES) {
		s->too_many = true;
		return;
	}
	dt_map_set(st->known, key, st);
	dt_probes_add(s->ps, s->p, s->p->id_base + st->n++, s->prov, x->module, func, name,
		      (uint64_t)(uintptr_t)dt_arena_dup(dt_probes_arena(s->ps), x, sizeof(*x)));
}

static const char *shown_name(struct search *s, const struct pid_function *f)
{
	return dt_pid_pretty(f->object, f->index, false, dt_probes_arena(s->ps));
}

static void add_entry(struct search *s, const struct pid_function *f)
{
	struct pid_place x = s->like;
	dt_insn i;

	if (!dt_pid_entry(&s->st->code, f, &i) || i.flags & DT_INSN_REFUSED) {
		blame(s, D_PROC_CREATEFAIL,
		      "%s begins with an instruction that the kernel cannot probe",
		      shown_name(s, f));
		return;
	}
	x.f = *f;
	x.what = PID_ENTRY;
	x.offset = i.offset;
	x.number = i.frame;
	add(s, &x, shown_name(s, f), "entry");
}

static void add_return(struct search *s, const struct pid_function *f)
{
	struct pid_place x = s->like;
	pid_returns r = {0};

	dt_pid_returns(&s->st->code, f, &r);
	if (r.n) {
		x.f = *f;
		x.what = PID_RETURN;
		add(s, &x, shown_name(s, f), "return");
	} else {
		blame(s, D_PROC_CREATEFAIL, "%s has no instruction by which it returns",
		      shown_name(s, f));
	}
	dt_vec_free(&r);
}

static void add_instruction(struct search *s, const struct pid_function *f, const dt_insn *i)
{
	struct pid_place x = s->like;
	char name[20];

	snprintf(name, sizeof(name), "%x", i->offset);
	x.f = *f;
	x.what = PID_OFFSET;
	x.offset = i->offset;
	add(s, &x, shown_name(s, f), name);
}

static void add_offset(struct search *s, const struct pid_function *f, uint64_t offset)
{
	const dt_body *b = dt_pid_body(&s->st->code, f);
	const dt_insn *i = b ? dt_body_at(b, offset) : NULL;

	if (i && !(i->flags & DT_INSN_REFUSED))
		add_instruction(s, f, i);
	else if (offset >= f->size)
		blame(s, D_PROC_OFF, "offset 0x%llx is outside of %s, which has 0x%llx bytes",
		      (unsigned long long)offset, shown_name(s, f), (unsigned long long)f->size);
	else if (i)
		blame(s, D_PROC_CREATEFAIL,
		      "the kernel cannot probe the instruction at %s+0x%llx", shown_name(s, f),
		      (unsigned long long)offset);
	else
		blame(s, D_PROC_ALIGN, "no instruction of %s begins at offset 0x%llx",
		      shown_name(s, f), (unsigned long long)offset);
}

static void add_all_instructions(struct search *s, const struct pid_function *f)
{
	const dt_body *b = dt_pid_body(&s->st->code, f);
	char name[20];

	for (uint32_t i = 0; b && i < b->insns.n && !s->too_many; i++) {
		snprintf(name, sizeof(name), "%x", b->insns.v[i].offset);
		if (!(b->insns.v[i].flags & DT_INSN_REFUSED) &&
		    (!*s->d->name || dt_glob_match(s->d->name, name)))
			add_instruction(s, f, &b->insns.v[i]);
	}
}

static void add_by_name(struct search *s, const struct pid_function *f)
{
	const char *name = s->d->name;
	bool any = !*name || dt_glob_is_pattern(name);
	uint64_t offset;

	if (any ? !*name || dt_glob_match(name, "entry") : strcmp(name, "entry") == 0)
		add_entry(s, f);
	if (any ? !*name || dt_glob_match(name, "return") : strcmp(name, "return") == 0)
		add_return(s, f);
	if (any &&
	    !(s->listing && !*name && !*s->d->func)) /* a list of all functions need not include instructions */
		add_all_instructions(s, f);
	else if (dt_pid_hex(name, &offset))
		add_offset(s, f, offset);
}

/* Functions that patterns do not match; they can be named. */
static bool is_hidden(const dt_elfsym *f)
{
	return f->unsized || f->size == 0 || strcmp(f->name, "_init") == 0 ||
	       strcmp(f->name, "_fini") == 0 || strstr(f->name, ".cold");
}

typedef DT_VEC(uint64_t) addresses;

/* The implementation of an IFUNC has its own name, and may serve several of them (memcpy, memmove).
 * A description gives one probe for the place. */
static bool is_place_taken(struct search *s, struct pid_object *o, const struct pid_function *f, addresses *taken)
{
	const dt_elfsym *real = dt_elf_function_at(o->elf, f->vaddr);

	if (real && real->vaddr == f->vaddr && real >= o->funcs && real < o->funcs + o->nfuncs && !is_hidden(real) &&
	    dt_pid_function_matches(s->ps, s->d->func, o, (uint32_t)(real - o->funcs)))
		return true;
	for (uint32_t i = 0; i < taken->n; i++)
		if (taken->v[i] == f->vaddr)
			return true;
	*dt_vec_add(taken, NULL) = f->vaddr;
	return false;
}

static void search_functions(struct search *s, struct pid_object *o)
{
	addresses taken = {0};
	bool exact = *s->d->func && !dt_glob_is_pattern(s->d->func);
	struct pid_function f;

	for (uint32_t i = 0; i < o->nfuncs && !s->too_many && !dt_jail_stopped(o->jail); i++) {
		if (o->funcs[i].alias || o->funcs[i].plt || (!exact && is_hidden(&o->funcs[i])) ||
		    !dt_pid_function_matches(s->ps, s->d->func, o, i))
			continue;
		if (dt_pid_function(o, i, &f)) {
			s->functions++;
			if (o->funcs[i].type != STT_GNU_IFUNC || !is_place_taken(s, o, &f, &taken))
				add_by_name(s, &f);
		} else if (exact && o->funcs[i].type == STT_GNU_IFUNC) {
			blame(
			    s, D_PROC_FUNC,
			    "%s is chosen among several functions when the program starts, and we "
			    "cannot tell which it is",
			    o->funcs[i].name);
		} else if (exact) {
			blame(s, D_PROC_FUNC, "%s is not code", o->funcs[i].name);
		}
	}
	dt_vec_free(&taken);
}

/* Function "-": an address of the process. */
static void search_address(struct search *s, struct pid_object *o, const dt_mapping *m)
{
	struct pid_place x = s->like;
	uint64_t address, bias;
	const dt_elfsym *sym;
	char name[20];

	if (!dt_pid_hex(s->d->name, &address)) {
		blame(s, D_PROC_NAME,
		      "with function - the name is an address, in hexadecimal without 0x");
		return;
	}
	if (address < m->start || address >= m->end ||
	    !dt_elf_bias(o->elf, m->start, m->offset, &bias))
		return;
	x.what = PID_ADDRESS;
	x.offset = address - bias;
	x.number = address;
	x.f = (struct pid_function){.object = o};
	sym = dt_elf_function_at(o->elf, x.offset);
	if (sym) {
		struct pid_function f = {.object = o, .vaddr = sym->vaddr, .size = sym->size};
		const dt_body *b = dt_pid_body(&s->st->code, &f);
		const dt_insn *i = b ? dt_body_at(b, x.offset - f.vaddr) : NULL;

		if (b && b->whole && (!i || i->flags & DT_INSN_REFUSED)) {
			blame(s, D_PROC_ALIGN,
			      i ? "the kernel cannot probe the instruction at 0x%llx"
				: "no instruction begins at 0x%llx",
			      (unsigned long long)address);
			return;
		}
	}
	s->functions++;
	snprintf(name, sizeof(name), "%llx", (unsigned long long)address);
	add(s, &x, "-", name);
}

/* ---- objects ---- */

static struct pid_object *open_object(struct search *s, int fd, long pid, const char *path)
{
	const dt_arch *a = dt_arch_host();
	char root[64] = "";
	struct dt_elf_place place = {
	    .root = root, .path = path, .jail = dt_procs_jail(dt_probes_procs(s->ps))};
	struct pid_object *o;
	dt_error err = {0};
	char *name;

	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			blame(s, D_PROC_LIB, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (pid)
		dt_proc_root(pid, root, sizeof(root));
	if (!*root)
		place.root = NULL;
	name = pid ? dt_proc_path(pid, path) : dt_xstrdup(path);
	o = dt_pid_object(&s->st->objects, fd, &place, name, dt_probes_arena(s->ps), &err);
	free(name);
	if (!o) /* the text may begin with the path */
		blame(s, D_PROC_LIB, "%s%s%s", path, strncmp(err.text, path, strlen(path)) == 0 ? "" : ": ",
		      err.text + (strncmp(err.text, path, strlen(path)) == 0 ? strlen(path) : 0));
	else if (dt_elf_machine(o->elf) != (dt_elf_is_64(o->elf) ? a->machine : a->compat_machine)) {
		blame(s, D_PROC_LIB, "%s is not code for %s", path, a->programs);
		o = NULL;
	}
	s->object = o;
	return o;
}

static void describe_object(struct search *s, long pid, const char *path, bool exe)
{
	const char *base = strrchr(path, '/');

	s->like.pid = pid;
	s->like.path = dt_arena_strdup(dt_probes_arena(s->ps), path);
	s->like.module = base ? s->like.path + (base + 1 - path) : s->like.path;
	s->like.exe = exe;
}

static bool same_file(const dt_mapping *a, const dt_mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && strcmp(a->path, b->path) == 0;
}

/* Has an earlier executable mapping the same file? */
static bool is_repeated(const dt_maps *maps, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (maps->v[k].exec && same_file(&maps->v[k], &maps->v[i]))
			return true;
	return false;
}

/* The objects of a process; their probes belong to `owner`: the process itself, or the one it is
 * followed from. */
static void search_process(struct search *s, long owner, long pid, const dt_maps *maps)
{
	const dt_mapping *exe = dt_maps_exe(maps, pid);
	bool address = strcmp(s->d->func, "-") == 0;

	for (uint32_t i = 0; i < maps->n; i++) {
		const dt_mapping *m = &maps->v[i];
		bool is_exe = exe && same_file(m, exe);
		bool called = dt_object_is_called(s->d->mod, m->base, m->path, is_exe);
		struct pid_object *o;

		if (m->kind != DT_MAP_FILE || !m->exec || (!address && is_repeated(maps, i)) ||
		    !(called || (is_exe && dt_exe_has_link(pid, s->d->mod, m->path))))
			continue;
		s->objects++;
		o = open_object(s, dt_mapping_open(pid, m), pid, m->path);
		if (!o)
			continue;
		if (!called)
			dt_map_set(o->links, s->d->mod, o);
		describe_object(s, owner, m->path, is_exe);
		if (address)
			search_address(s, o, m);
		else
			search_functions(s, o);
	}
}

/* ---- nothing was found: why? ---- */

static void explain_objects(struct search *s, const dt_maps *maps)
{
	DT_VEC(const char *) names = {0};
	dt_hint near;

	for (uint32_t i = 0; maps && i < maps->n; i++)
		if (maps->v[i].kind == DT_MAP_FILE && maps->v[i].exec)
			*dt_vec_add(&names, NULL) = maps->v[i].base;
	near = dt_did_you_mean(s->d->mod, names.v, names.n);
	blame(s, D_PROC_LIB, "%s has no object %s mapped%s", s->prov, s->d->mod,
	      *near.text   ? near.text
	      : s->listing ? ""
			   : "; if it is loaded later, -Z waits for it");
	dt_vec_free(&names);
}

/* No names of functions other than those for the dynamic linker? */
static const char *if_stripped(const struct search *s)
{
	dt_elf *e = s->object ? s->object->elf : NULL;
	struct dt_elf_section ignored;

	if (!e || dt_elf_section(e, ".symtab", &ignored) || dt_elf_section(e, ".gnu_debugdata", &ignored) || dt_elf_debug(e))
		return "";
	return ", which is stripped: only the functions that it exports have names; the others are in its debug symbols";
}

static void explain_functions(struct search *s)
{
	DT_VEC(const char *) names = {0};
	const char *where = *s->d->mod ? s->d->mod : s->prov;
	bool data = false;
	dt_hint near;

	if (!*s->d->func || dt_glob_is_pattern(s->d->func)) {
		if (*if_stripped(s))
			blame(s, D_PROC_FUNC, "no such function in %s%s", where, if_stripped(s));
		return;
	}
	for (uint32_t k = 0; k < s->st->objects.n; k++) {
		struct pid_object *o = s->st->objects.v[k];

		data = data || dt_elf_data_named(o->elf, s->d->func);
		for (uint32_t i = 0; i < o->nfuncs; i++)
			if (!o->funcs[i].plt)
				*dt_vec_add(&names, NULL) =
				    dt_pid_pretty(o, i, false, dt_probes_arena(s->ps));
	}
	near = dt_did_you_mean(s->d->func, names.v, names.n);
	if (data)
		blame(s, D_PROC_FUNC, "%s is a variable, not a function", s->d->func);
	else
		blame(s, D_PROC_FUNC, "no function %s in %s%s", s->d->func, where, *near.text ? near.text : if_stripped(s));
	dt_vec_free(&names);
}

static void explain(struct search *s, const dt_maps *maps)
{
	uint64_t n;

	if (s->too_many) {
		blame(s, DT_NO_TAG, "more than %d probes in processes", MAX_PROBES);
		return;
	}
	if (s->probes) {
		*s->why = 0;
		return;
	}
	if (!s->objects && *s->d->mod && !s->tag)
		explain_objects(s, maps);
	else if (s->objects && !s->functions && !s->tag && strcmp(s->d->func, "-") != 0)
		explain_functions(s);
	else if (s->functions && !s->tag && !dt_glob_is_pattern(s->d->name) &&
		 !dt_pid_hex(s->d->name, &n))
		blame(s, D_PROC_NAME,
		      "%s is neither entry, return, nor an offset in hexadecimal without 0x",
		      s->d->name);
	else if (!s->tag && strcmp(s->d->func, "-") == 0)
		blame(s, D_PROC_OFF, "no code is mapped at 0x%s", s->d->name);
	if (s->tag)
		dt_probes_blame(s->ps, s->tag);
}

/* ---- one process, all processes ---- */

/* The result depends on the description and on what is mapped. True: this was searched before. */
static bool was_done(struct search *s, const dt_maps *maps)
{
	bool address = strcmp(s->d->func, "-") == 0, yes;
	dt_buf key = {0};

	dt_buf_printf(&key, "%s:%s:%s:%s", s->d->prov, s->d->mod, s->d->func, s->d->name);
	for (uint32_t i = 0; maps && i < maps->n; i++)
		if (maps->v[i].exec && maps->v[i].inode)
			dt_buf_printf(&key, " %llx %llx",
				      address ? (unsigned long long)maps->v[i].start : 0,
				      (unsigned long long)maps->v[i].inode);
	yes = dt_map_get(s->st->done, key.s) != NULL;
	if (!yes && s->probes)
		dt_map_set(s->st->done, key.s, s->st);
	dt_buf_free(&key);
	return yes;
}

static void refuse(struct search *s, const dt_error *err)
{
	blame(s, err->tag ? err->tag : D_PROC_GRAB, "%s", err->text);
	dt_probes_blame(s->ps, s->tag);
}

/* Option follow: programs of the children are part of the process. */
static void search_followed(struct search *s, long owner)
{
	struct dt_procs *procs = dt_probes_procs(s->ps);
	const dt_proc *p;
	dt_error ignored;

	for (uint32_t i = 0; procs && (p = dt_procs_nth(procs, i)); i++) {
		dt_maps *maps = p->origin == DT_PROC_FOLLOWED && p->state != DT_PROC_GONE
				    ? dt_maps_read(p->pid, &ignored)
				    : NULL;

		if (maps && !was_done(s, maps)) {
			search_process(s, owner, p->pid, maps);
			was_done(s, maps);
		}
		dt_maps_free(maps);
	}
}

static void discover_process(struct search *s, long pid)
{
	struct dt_procs *procs = dt_probes_procs(s->ps);
	dt_error err = {0};
	dt_maps *maps = NULL;

	if (!procs || dt_procs_need(procs, pid, &err))
		maps = dt_maps_read(pid, &err);
	search_followed(s, pid);
	if (!maps) {
		refuse(s, &err);
	} else if (!was_done(s, maps)) {
		search_process(s, pid, pid, maps);
		was_done(s, maps);
		explain(s, maps);
	}
	dt_maps_free(maps);
}

/* A file named by its path, whether it is mapped or not. */
static void search_path(struct search *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pid_object *o;

	if (fd < 0) {
		blame(s, D_PROC_LIB, "%s: %s", path, strerror(errno));
		return;
	}
	s->objects++;
	o = open_object(s, fd, 0, path);
	if (!o)
		return;
	describe_object(s, 0, path,
			dt_elf_kind(o->elf) == DT_ELF_EXEC || dt_elf_kind(o->elf) == DT_ELF_PIE);
	if (!dt_object_is_called(s->d->mod, s->like.module, path, s->like.exe))
		dt_map_set(o->links, s->d->mod, o);
	search_functions(s, o);
}

/* A command that no process runs under this name: it may be a symbolic link. */
static void search_command(struct search *s)
{
	char *path = dt_command_path(s->d->mod);

	if (path)
		search_path(s, path);
	free(path);
}

static void found_for_all(struct search *s, struct pid_object *o, const char *path, bool exe)
{
	describe_object(s, 0, path, exe);
	if (s->found)
		s->found(s->found_arg, o, s->like.module);
	else
		search_functions(s, o);
}

/* Files that some process maps and whose name matches, each once. */
static void search_all_processes(struct search *s)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;
	dt_map *seen = dt_map_new();
	dt_error ignored;

	while (all && !dt_jail_stopped(dt_procs_jail(dt_probes_procs(s->ps))) &&
	       (entry = readdir(all))) {
		long pid = atol(entry->d_name);
		dt_maps *maps = pid > 0 ? dt_maps_code(pid, &ignored) : NULL;
		const dt_mapping *exe = maps ? dt_maps_exe(maps, pid) : NULL;

		for (uint32_t i = 0; maps && i < maps->n; i++) {
			const dt_mapping *m = &maps->v[i];
			bool is_exe = exe && same_file(m, exe);
			struct pid_object *o;
			char key[64];

			if (m->kind != DT_MAP_FILE || !m->exec || is_repeated(maps, i) ||
			    !dt_object_is_called(s->d->mod, m->base, m->path, is_exe))
				continue;
			snprintf(key, sizeof(key), "%u %u %llu", m->dev_major, m->dev_minor,
				 (unsigned long long)m->inode);
			if (dt_map_get(seen, key))
				continue;
			dt_map_set(seen, key, s);
			s->objects++;
			o = open_object(s, dt_mapping_open(pid, m), pid, m->path);
			if (o)
				found_for_all(s, o, m->path, is_exe);
		}
		dt_maps_free(maps);
	}
	if (all)
		closedir(all);
	dt_map_free(seen);
}

static void search_library(void *arg, const char *path)
{
	struct search *s = arg;
	struct pid_object *o = open_object(s, open(path, O_RDONLY | O_CLOEXEC), 0, path);

	s->objects++;
	if (o)
		found_for_all(s, o, path, false);
}

/* Processes that start later load it before we hear of them: probes in the libraries that they will find are there in time. */
static void search_libraries(struct search *s)
{
	if (strncmp(s->d->mod, "lib", 3) == 0)
		dt_installed_libraries(s->d->mod, search_library, s);
}

/* What processes have mapped meanwhile. */
static void search_brought(struct search *s)
{
	for (uint32_t i = 0; i < s->st->objects.n; i++) {
		struct pid_object *o = s->st->objects.v[i];
		const char *base = o->seen ? strrchr(o->seen, '/') : NULL;
		bool exe = dt_elf_kind(o->elf) == DT_ELF_EXEC || dt_elf_kind(o->elf) == DT_ELF_PIE;

		if (!base || !dt_object_is_called(s->d->mod, base + 1, o->seen, exe))
			continue;
		s->objects++;
		found_for_all(s, o, o->seen, exe);
	}
}

void dt_pid_files(dt_probes *ps, const char *name, unsigned where, void (*found)(void *arg, struct pid_object *o, const char *base),
		  void *arg)
{
	dt_probedesc d = {.prov = DT_PID_ALL, .mod = name, .func = "", .name = ""};
	char why[256];
	struct search s = {.p = &dt_provider_pid, .ps = ps, .d = &d, .prov = d.prov, .why = why, .whylen = sizeof(why), .found = found, .found_arg = arg};

	s.st = dt_pid_state(ps, s.p);
	if (where & PID_BROUGHT)
		search_brought(&s);
	if (where & PID_RUNNING)
		search_all_processes(&s);
	if (where & PID_INSTALLED)
		search_libraries(&s);
}

static void discover_all(struct search *s)
{
	if (!*s->d->mod) {
		blame(s, D_PROC_LIB, "pid* needs a module: the name or the path of a file");
		dt_probes_blame(s->ps, s->tag);
		return;
	}
	if (strcmp(s->d->func, "-") == 0) {
		blame(s, D_PROC_FUNC,
		      "pid* cannot have function -: addresses differ between processes");
		dt_probes_blame(s->ps, s->tag);
		return;
	}
	search_brought(s);
	if (was_done(s, NULL))
		return;
	if (s->d->mod[0] == '/' && !dt_glob_is_pattern(s->d->mod))
		search_path(s, s->d->mod);
	else
		search_all_processes(s);
	search_libraries(s);
	if (!s->objects)
		search_command(s);
	was_done(s, NULL);
	explain(s, NULL);
}

int dt_pid_discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	struct search s = {.p = p, .ps = ps, .d = d, .prov = d->prov, .why = why, .whylen = whylen};
	long pid;

	if (!p->claims(p, d->prov))
		return 0;
	s.listing = listing;
	s.st = dt_pid_state(ps, p);
	if (strcmp(d->prov, DT_PID_ALL) == 0) {
		discover_all(&s);
		return s.too_many ? -1 : 0;
	}
	errno = 0;
	pid = strtol(d->prov + 3, NULL, 10);
	if (errno || pid <= 0 || pid > INT32_MAX || d->prov[3] == '0') {
		blame(&s, D_PROC_BADPID,
		      strcmp(d->prov, "pid") == 0    ? "pid needs a process: pid123, pid$target or pid*%s"
		      : strcmp(d->prov, "pid0") == 0 ? "%s is not a process id; $target is 0 without -c and -p"
						     : "%s: not a process id",
		      d->prov + 3);
		dt_probes_blame(ps, s.tag);
		return 0;
	}
	discover_process(&s, pid);
	return s.too_many ? -1 : 0;
}
