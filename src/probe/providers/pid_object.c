/*
 * pid_object: the ELF files of pid probes, and the places in their code.
 *
 * Entry. The cheapest instruction of the entry (insn.h) may be after the first one. Then nothing
 * may jump there: neither the function itself nor, in hand-written code, one beside it. So the
 * jumps of the function and of its neighbours are checked; each function of a file is decoded once.
 *
 * Return. A function returns where it has a ret, or jumps to another function (a tail call).
 * Compilers move seldom executed code elsewhere, under a name like f.cold: jumps there are not
 * returns, but its rets are.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/providers/pid.h"
#include "elf/cfi.h"

#define AT_ONCE	   256u	      /* names that are made readable */
#define CODE_MAX   (1u << 20) /* of one function */
#define NEIGHBOURS 8u	      /* on either side, and not farther away than: */
#define NEAR	   4096u

/* ---- files ---- */

struct pid_object *dt_pid_object(pid_objects *all, int fd, const struct dt_elf_place *place,
				 const char *name, dt_arena *a, dt_error *err)
{
	struct dt_elf_section sec;
	struct pid_object *o;
	struct stat st;
	dt_elf *elf;

	if (fstat(fd, &st) < 0)
		memset(&st, 0, sizeof(st));
	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i]->dev == st.st_dev && all->v[i]->inode == st.st_ino) {
			close(fd);
			return all->v[i];
		}
	elf = dt_elf_open_fd(fd, place, err);
	if (!elf)
		return NULL;
	o = dt_arena_alloc(a, sizeof(*o));
	o->elf = elf;
	o->jail = place->jail;
	o->links = dt_map_new();
	o->dev = st.st_dev;
	o->inode = st.st_ino;
	snprintf(o->path, sizeof(o->path), "/proc/self/fd/%d", dt_elf_fd(elf));
	o->name = name && stat(name, &st) == 0 && st.st_dev == o->dev && st.st_ino == o->inode
		      ? dt_arena_strdup(a, name)
		      : o->path;
	o->go = dt_elf_section(elf, ".note.go.buildid", &sec) || dt_elf_section(elf, ".go.buildinfo", &sec);
	o->nfuncs = dt_elf_functions(elf, &o->funcs);
	*dt_vec_add(all, NULL) = o;
	return o;
}

void dt_pid_objects_free(pid_objects *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		dt_vec_free(&all->v[i]->targets);
		free(all->v[i]->swept);
		dt_map_free(all->v[i]->links);
		dt_elf_free(all->v[i]->elf);
	}
	dt_vec_free(all);
}

/* Names of Go have a package before them; names of C have no dot. */
bool dt_pid_is_go(const struct pid_object *o, uint32_t index)
{
	const char *name = o->funcs[index].name;
	size_t n = strlen(name);

	return o->go && strchr(name, '.') && name[0] != '.' && !(n > 5 && strcmp(name + n - 5, ".abi0") == 0);
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* This name and the next ones, which will be asked for as well: a helper takes as long for many as for one. */
static void make_pretty(struct pid_object *o, uint32_t index, bool params, dt_arena *a)
{
	const char *names[AT_ONCE] = {0};
	char *made[AT_ONCE];
	uint32_t at[AT_ONCE], n = 0;

	for (uint32_t i = index; i < o->nfuncs && n < AT_ONCE; i++)
		if (is_mangled(o->funcs[i].name) && !o->pretty[params][i]) {
			names[n] = o->funcs[i].name;
			at[n++] = i;
		}
	dt_demangle_all(o->jail, names, n, params, made);
	for (uint32_t i = 0; i < n; i++) {
		o->pretty[params][at[i]] = made[i] ? dt_arena_strdup(a, made[i]) : names[i];
		free(made[i]);
	}
}

const char *dt_pid_pretty(struct pid_object *o, uint32_t index, bool params, dt_arena *a)
{
	const char *name = o->funcs[index].name;

	if (!is_mangled(name))
		return name;
	if (!o->pretty[params])
		o->pretty[params] = dt_arena_alloc(a, o->nfuncs * sizeof(*o->pretty[params]));
	if (!o->pretty[params][index])
		make_pretty(o, index, params, a);
	return o->pretty[params][index];
}

/* ---- functions ---- */

static bool is_code(struct pid_object *o, uint64_t vaddr)
{
	const struct dt_elf_segment *s;
	uint32_t n = dt_elf_segments(o->elf, &s);

	for (uint32_t i = 0; i < n; i++)
		if (s[i].exec && vaddr >= s[i].vaddr && vaddr - s[i].vaddr < s[i].file_size)
			return true;
	return false;
}

/* The same file among the objects of this process. */
struct ours {
	const struct pid_object *o;
	const char *name; /* NULL: not there */
	uint64_t bias, end;
};

static int find_ours(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ours *f = arg;
	struct stat st;

	(void)size;
	if (!*info->dlpi_name || stat(info->dlpi_name, &st) < 0 || st.st_dev != f->o->dev ||
	    st.st_ino != f->o->inode)
		return 0;
	f->name = info->dlpi_name;
	f->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			f->end = f->bias + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1;
}

/*
 * An IFUNC (memcpy, strlen ...) is a function that chooses the function, by what the processor can
 * do. If this process has the same file loaded, its own choice is the right one for all others.
 */
static uint64_t chosen(const struct pid_object *o, const dt_elfsym *s)
{
	struct ours f = {.o = o};
	uint64_t at = 0;
	void *handle;

	dl_iterate_phdr(find_ours, &f);
	handle = f.name ? dlopen(f.name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (handle) {
		at = (uint64_t)(uintptr_t)dlsym(handle, s->name);
		dlclose(handle);
	}
	return at >= f.bias && at < f.end ? at - f.bias : 0;
}

/* The size of a function without a symbol: what its unwind information covers. */
static uint64_t unwind_size(struct pid_object *o, uint64_t vaddr)
{
	struct dt_cfi_walk w;
	uint64_t start, end;

	dt_cfi_walk(o->elf, &w);
	while (dt_cfi_next(&w, &start, &end))
		if (vaddr >= start && vaddr < end)
			return end - vaddr;
	return 0;
}

bool dt_pid_function(struct pid_object *o, uint32_t index, struct pid_function *f)
{
	const dt_elfsym *s = &o->funcs[index], *real;

	*f = (struct pid_function){.object = o, .index = index, .vaddr = s->vaddr, .size = s->size};
	if (s->type == STT_GNU_IFUNC) {
		f->vaddr = chosen(o, s);
		if (!f->vaddr)
			return false;
		real = dt_elf_function_at(o->elf, f->vaddr);
		f->size = real && real->vaddr == f->vaddr ? real->size : unwind_size(o, f->vaddr);
	}
	return !s->plt && is_code(o, f->vaddr);
}

/* ---- code ---- */

/* The bytes of a function, on the heap. */
static uint8_t *read_code(struct pid_object *o, uint64_t vaddr, uint64_t size, size_t *n)
{
	size_t want = size && size < CODE_MAX ? size : size ? CODE_MAX : 64;
	uint8_t *code = dt_xmalloc(want);

	*n = dt_elf_read(o->elf, vaddr, code, want);
	return code;
}

static struct dt_insn_mode mode_of(const struct pid_code *c, const struct pid_object *o)
{
	struct dt_insn_mode mode = c->kernel;

	mode.narrow = !dt_elf_is_64(o->elf);
	mode.go = o->go;
	return mode;
}

const dt_body *dt_pid_body(struct pid_code *c, const struct pid_function *f)
{
	struct dt_insn_mode mode;
	uint8_t *code;
	size_t n;

	if (c->object == f->object && c->body.vaddr == f->vaddr && c->body.insns.n)
		return &c->body;
	code = read_code(f->object, f->vaddr, f->size, &n);
	mode = mode_of(c, f->object);
	dt_body_decode(&c->body, &mode, code, n, f->vaddr);
	c->object = f->object;
	free(code);
	return c->body.insns.n ? &c->body : NULL;
}

/* ---- entry ---- */

static void jumps_of(struct pid_object *o, uint64_t vaddr, uint64_t size, dt_jump_targets *to)
{
	struct dt_insn_mode mode = {.narrow = !dt_elf_is_64(o->elf)};
	size_t n;
	uint8_t *code = read_code(o, vaddr, size, &n);

	dt_jump_targets_add(to, &mode, code, n, vaddr);
	free(code);
}

/* Keep the jumps of a function that leave it. */
static void sweep(struct pid_object *o, uint32_t i)
{
	const dt_elfsym *s = &o->funcs[i];
	dt_jump_targets all = {0};

	if (!o->swept)
		o->swept = dt_xcalloc(o->nfuncs, sizeof(*o->swept));
	if (o->swept[i] || s->alias || s->plt)
		return;
	o->swept[i] = true;
	jumps_of(o, s->vaddr, s->size, &all);
	for (uint32_t k = 0; k < all.n; k++)
		if (all.v[k] - s->vaddr >= s->size)
			*dt_vec_add(&o->targets, NULL) = all.v[k];
	dt_vec_free(&all);
}

static void sweep_around(struct pid_object *o, uint32_t index)
{
	uint64_t here = o->funcs[index].vaddr;
	uint32_t n = 0;

	for (uint32_t i = index; i-- > 0 && n < NEIGHBOURS && here - o->funcs[i].vaddr < NEAR; n++)
		sweep(o, i);
	n = 0;
	for (uint32_t i = index + 1;
	     i < o->nfuncs && n < NEIGHBOURS && o->funcs[i].vaddr - here < NEAR; i++, n++)
		sweep(o, i);
}

static bool any_between(const dt_jump_targets *t, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->v[i] > from && t->v[i] <= to)
			return true;
	return false;
}

/* The same for functions that have unwind information but no symbol: implementations of IFUNCs in a
 * stripped library. */
static void jumps_around(struct pid_object *o, uint64_t vaddr, dt_jump_targets *to)
{
	struct dt_cfi_walk w;
	uint64_t start, end;

	dt_cfi_walk(o->elf, &w);
	while (dt_cfi_next(&w, &start, &end))
		if (start + NEAR > vaddr && start < vaddr + NEAR)
			jumps_of(o, start, end - start, to);
}

/* Does anything jump over the first instruction, up to this one? */
static bool is_jumped_to(const struct pid_function *f, uint64_t offset)
{
	dt_jump_targets own = {0};
	bool yes;

	jumps_of(f->object, f->vaddr, f->size, &own);
	if (f->vaddr == f->object->funcs[f->index].vaddr)
		sweep_around(f->object, f->index);
	else
		jumps_around(f->object, f->vaddr, &own);
	yes = any_between(&own, f->vaddr, f->vaddr + offset) ||
	      any_between(&f->object->targets, f->vaddr, f->vaddr + offset);
	dt_vec_free(&own);
	return yes;
}

#define ENTRY_MAX 128 /* bytes of code that are examined */

bool dt_pid_entry(struct pid_code *c, const struct pid_function *f, dt_insn *at)
{
	struct dt_insn_mode mode = mode_of(c, f->object);
	uint8_t code[ENTRY_MAX];
	size_t n = f->size && f->size < sizeof(code) ? f->size : sizeof(code);

	n = dt_elf_read(f->object->elf, f->vaddr, code, n);
	if (!dt_insn_entry(&mode, code, n, false, at))
		return false;
	return !at->offset || !is_jumped_to(f, at->offset) ||
	       dt_insn_entry(&mode, code, n, true, at);
}

/* ---- return ---- */

/* Is this the cold part of the function? */
static bool is_cold_part(const struct pid_function *f, const dt_elfsym *s)
{
	const char *name = f->object->funcs[f->index].name;
	size_t n = strlen(name);

	return strncmp(s->name, name, n) == 0 && strncmp(s->name + n, ".cold", 5) == 0;
}

/* Add where this part of the function returns; *cold gets the other part when a jump leads there.
 */
static void returns_of(const struct pid_function *f, const dt_body *b, const dt_elfsym **cold,
		       pid_returns *out)
{
	for (uint32_t i = 0; i < b->insns.n; i++) {
		const dt_insn *x = &b->insns.v[i];
		const dt_elfsym *to;

		if (x->flags & DT_INSN_REFUSED)
			continue;
		if (x->flags & DT_INSN_JUMP) {
			if (x->target - b->vaddr < b->size || x->target - f->vaddr < f->size)
				continue;
			to = dt_elf_function_at(f->object->elf, x->target);
			if (to && is_cold_part(f, to)) {
				*cold = to;
				continue;
			}
			/* Without a symbol: a function if the jump is unconditional, else probably
			 * a cold part. */
			if (x->flags & DT_INSN_MAYBE && !(to && to->vaddr == x->target))
				continue;
		} else if (!(x->flags & (DT_INSN_RETURN | DT_INSN_INDIRECT))) {
			continue;
		}
		*dt_vec_add(out, NULL) = (struct pid_return){.vaddr = b->vaddr + x->offset,
							     .maybe = x->flags & DT_INSN_MAYBE,
							     .condition = x->condition,
							     .cheap = x->flags & DT_INSN_CHEAP,
							     .pops = x->pops};
	}
}

void dt_pid_returns(struct pid_code *c, const struct pid_function *f, pid_returns *out)
{
	const dt_body *b = dt_pid_body(c, f);
	const dt_elfsym *cold = NULL;

	if (b)
		returns_of(f, b, &cold, out);
	if (!cold)
		return;
	struct pid_function part = {.object = f->object, .vaddr = cold->vaddr, .size = cold->size};

	b = dt_pid_body(c, &part);
	if (b)
		returns_of(f, b, &cold, out);
}
