/*
 * places: where a probe can be. See doc/process-engine.md for why this is safe.
 *
 * A probe replaces whole instructions, at least five bytes. That is done only if
 *
 *   - the function has been decoded from its first byte to its last, and its code in memory is that of the file
 *   - no jump in the whole object, and no function, begins inside these bytes
 *   - the function has no jump table, or else none of its entries can lead there: each of these instructions but the first
 *     saves a register or makes space on the stack, which is done once for each call
 *   - the jump is in one page: if we are killed, each page has been written or not
 *   - none of the instructions is a call (its return address would be among them), or a system call
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "arch/trap.h"
#include "elf/cfi.h"
#include "elf/elf.h"
#include "process/process.h"

#define FUNCTION_MAX (1u << 20)
#define PAGE	     4096u

struct file {
	char *path;
	dt_elf *elf;
	uint64_t inode;
	dt_jump_targets targets; /* of all its jumps, and the starts of functions; sorted */
	bool swept, go;
};

struct dt_pe_files {
	long pid;
	dt_jail *jail;
	const dt_maps *maps;
	DT_VEC(struct file *) v;
	dt_body body; /* of the function at hand */
	uint8_t *code;
};

struct dt_pe_files *dt_pe_files_new(long pid, dt_jail *jail, const dt_maps *maps)
{
	struct dt_pe_files *f = dt_xcalloc(1, sizeof(*f));

	f->pid = pid;
	f->jail = jail;
	f->maps = maps;
	f->code = dt_xmalloc(FUNCTION_MAX + DT_PATCH_MAX);
	return f;
}

void dt_pe_files_free(struct dt_pe_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->v.n; i++) {
		dt_elf_free(f->v.v[i]->elf);
		dt_vec_free(&f->v.v[i]->targets);
		free(f->v.v[i]->path);
		free(f->v.v[i]);
	}
	dt_vec_free(&f->v);
	dt_body_free(&f->body);
	free(f->code);
	free(f);
}

static int by_address(const void *a, const void *b)
{
	const dt_patch *x = &(*(struct dt_pe_place *const *)a)->patch, *y = &(*(struct dt_pe_place *const *)b)->patch;

	return x->at < y->at ? -1 : x->at > y->at;
}

void dt_pe_places_share(dt_pe_places *all)
{
	struct dt_pe_place *memory;

	if (!all->n)
		return;
	qsort(all->v, all->n, sizeof(*all->v), by_address);
	memory = mmap(NULL, all->n * sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (uint32_t i = 0; memory != MAP_FAILED && i < all->n; i++) {
		memory[i] = *all->v[i];
		free(all->v[i]);
		all->v[i] = &memory[i];
	}
	all->shared = memory != MAP_FAILED;
}

void dt_pe_places_free(dt_pe_places *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		dt_vec_free(&all->v[i]->ecbs);
		if (!all->shared)
			free(all->v[i]);
	}
	if (all->shared)
		munmap(all->v[0], all->n * sizeof(*all->v[0]));
	dt_vec_free(all);
}

/* ---- objects ---- */

static struct file *file_of(struct dt_pe_files *fs, const char *path, dt_error *err)
{
	struct dt_elf_place place = {.path = path, .jail = fs->jail};
	struct dt_elf_section sec;
	struct file *f;
	struct stat st;
	dt_elf *elf;
	int fd;

	for (uint32_t i = 0; i < fs->v.n; i++)
		if (strcmp(fs->v.v[i]->path, path) == 0)
			return fs->v.v[i];
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		dt_err(err, EDT_NOPROBE, "its file cannot be opened");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	elf = dt_elf_open_fd(fd, &place, err);
	if (!elf)
		return NULL;
	f = dt_xcalloc(1, sizeof(*f));
	*f = (struct file){.path = dt_xstrdup(path), .elf = elf, .inode = st.st_ino};
	f->go = dt_elf_section(elf, ".note.go.buildid", &sec) || dt_elf_section(elf, ".go.buildinfo", &sec);
	*dt_vec_add(&fs->v, NULL) = f;
	return f;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sweep_range(struct dt_pe_files *fs, struct file *f, uint64_t start, uint64_t size)
{
	*dt_vec_add(&f->targets, NULL) = start;
	if (size > FUNCTION_MAX)
		size = FUNCTION_MAX;
	size = dt_elf_read(f->elf, start, fs->code, size);
	dt_jump_targets_add(&f->targets, &(struct dt_insn_mode){0}, fs->code, size, start);
}

/* Every function that has unwind information, and those that have only a symbol. */
static void sweep(struct dt_pe_files *fs, struct file *f)
{
	DT_VEC(uint64_t) ends = {0};
	const dt_elfsym *syms;
	struct dt_cfi_walk w;
	uint64_t start, end;
	uint32_t n;

	if (f->swept)
		return;
	f->swept = true;
	dt_cfi_walk(f->elf, &w);
	while (dt_cfi_next(&w, &start, &end)) {
		sweep_range(fs, f, start, end - start);
		*dt_vec_add(&ends, NULL) = start;
	}
	if (ends.n)
		qsort(ends.v, ends.n, sizeof(*ends.v), by_value);
	n = dt_elf_functions(f->elf, &syms);
	for (uint32_t i = 0; i < n; i++) {
		if (syms[i].alias || syms[i].plt)
			continue;
		if (ends.n && bsearch(&syms[i].vaddr, ends.v, ends.n, sizeof(*ends.v), by_value))
			continue;
		sweep_range(fs, f, syms[i].vaddr, syms[i].size);
	}
	dt_vec_free(&ends);
	if (f->targets.n)
		qsort(f->targets.v, f->targets.n, sizeof(*f->targets.v), by_value);
}

/* Does anything lead to a byte between these two? */
static bool is_target(const struct file *f, uint64_t after, uint64_t before)
{
	uint32_t lo = 0, hi = f->targets.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->targets.v[mid] <= after)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->targets.n && f->targets.v[lo] < before;
}

/* Where the code of a function, or a word of data, is in the process; 0: nowhere. */
static uint64_t address_of(const struct dt_pe_files *fs, const struct file *f, uint64_t offset, bool data)
{
	for (uint32_t i = 0; i < fs->maps->n; i++) {
		const dt_mapping *m = &fs->maps->v[i];

		if (m->kind == DT_MAP_FILE && (data ? m->write && !m->shared : m->exec) && m->inode == f->inode && offset >= m->offset &&
		    offset - m->offset < m->end - m->start)
			return m->start + (offset - m->offset);
	}
	return 0;
}

/* ---- the function ---- */

static bool find_function(const struct file *f, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	const dt_elfsym *s = dt_elf_function_at(f->elf, vaddr);
	struct dt_cfi_walk w;
	uint64_t end;

	if (s && s->size && !s->plt && vaddr - s->vaddr < s->size) {
		*start = s->vaddr;
		*size = s->size;
		return true;
	}
	dt_cfi_walk(f->elf, &w);
	while (dt_cfi_next(&w, start, &end))
		if (vaddr >= *start && vaddr < end) {
			*size = end - *start;
			return true;
		}
	return false;
}

/* Decode it, with a few bytes after it, and compare it with what is in memory. `why` or NULL. */
static const char *read_function(struct dt_pe_files *fs, const struct file *f, uint64_t start, uint64_t size, uint64_t address)
{
	struct iovec local, remote;
	const char *why = NULL;
	uint8_t *now;
	size_t n;

	if (size > FUNCTION_MAX)
		return "its function is too large";
	n = dt_elf_read(f->elf, start, fs->code, size + DT_PATCH_MAX);
	if (n < size)
		return "its code cannot be read";
	now = dt_xmalloc(n);
	local = (struct iovec){now, n};
	remote = (struct iovec){(void *)(uintptr_t)address, n};
	if (process_vm_readv((pid_t)fs->pid, &local, 1, &remote, 1, 0) != (ssize_t)n || memcmp(now, fs->code, n) != 0)
		why = "its code in memory is not that of its file";
	free(now);
	if (why)
		return why;
	dt_body_decode(&fs->body, &(struct dt_insn_mode){0}, fs->code, size, start);
	if (!fs->body.whole || !fs->body.insns.n)
		return "its code is not understood";
	dt_body_decode(&fs->body, &(struct dt_insn_mode){0}, fs->code, n, start); /* the first instructions are the same */
	return NULL;
}

static bool has_table(const dt_body *b, uint64_t size)
{
	bool marked = b->insns.v[0].flags & DT_INSN_LANDING_PAD; /* then jumps that leave the function are known */

	for (uint32_t i = 0; i < b->insns.n && b->insns.v[i].offset < size; i++)
		if (b->insns.v[i].flags & DT_INSN_TABLE || (b->insns.v[i].flags & DT_INSN_INDIRECT && !marked))
			return true;
	return false;
}

static bool is_end(const dt_insn *i)
{
	return i->flags & (DT_INSN_RETURN | DT_INSN_INDIRECT | DT_INSN_TABLE) ||
	       (i->flags & DT_INSN_JUMP && !(i->flags & DT_INSN_MAYBE));
}

/* May these instructions be moved? */
static const char *try_window(const struct dt_pe_files *fs, const struct file *f, uint64_t size, uint32_t from, uint32_t to,
			      uint32_t probe, dt_patch *p)
{
	const struct dt_arch_code *arch = dt_arch_host()->code;
	const dt_insn *v = fs->body.insns.v;
	uint64_t start = fs->body.vaddr;
	bool table = has_table(&fs->body, size), dead = false;

	if (is_target(f, start + v[from].offset, start + v[to].offset + v[to].length))
		return "something jumps into the instructions that would be replaced";
	for (uint32_t i = from; i <= to; i++) {
		dead = dead || v[i].offset >= size || (i > from && is_end(&v[i - 1]));
		if (dead && !arch->is_padding(fs->code + v[i].offset, v[i].length))
			return "it is too short";
		if (i > from && table && !dead && !arch->makes_frame(fs->code + v[i].offset, v[i].length))
			return "its jump table may lead into the instructions that would be replaced";
	}
	p->size = v[to].offset + v[to].length - v[from].offset;
	if (p->size > DT_PATCH_MAX)
		return "it is too long";
	if (p->at / PAGE != (p->at + DT_PATCH_JUMP - 1) / PAGE)
		return "the jump would be in two pages, which cannot be changed at once";
	p->probe = v[probe].offset - v[from].offset;
	memcpy(p->was, fs->code + v[from].offset, p->size);
	p->stub = p->entry = p->at + 4096; /* only to see what can be moved */
	return dt_patch_make(p);
}

/* Instructions around number `i`: forward first. `base` is the address of the function. */
static const char *find_window(const struct dt_pe_files *fs, const struct file *f, uint64_t size, uint32_t i, bool first,
			       uint64_t base, dt_patch *p)
{
	const dt_insn *v = fs->body.insns.v;
	const char *why = NULL, *one;

	for (uint32_t from = i;; from--) {
		uint32_t to = i;

		while (to + 1 < fs->body.insns.n && v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP)
			to++;
		p->at = base + v[from].offset;
		one = v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP ? "it is too short"
										   : try_window(fs, f, size, from, to, i, p);
		if (!one)
			return NULL;
		why = why ? why : one;
		if (first || to == i || from == 0 || is_end(&v[from - 1]))
			break;
	}
	return why;
}

/* ---- events ---- */

static const char *place_event(struct dt_pe_files *fs, const struct file *f, const dt_probe *probe, const dt_attach *at,
			       dt_patch *p)
{
	bool entry = strcmp(probe->provider->name, "pid") == 0 && strcmp(probe->name, "entry") == 0;
	uint64_t offset = at->offset + at->call - (entry ? at->number >> DT_AT_BEHIND : 0), vaddr, start = 0, size = 0, address;
	const dt_insn *x;
	const char *why;

	if (at->kind != DT_AT_UPROBE && !(at->kind == DT_AT_URETPROBE && at->instruction))
		return "only probes in processes are available";
	if (f->go)
		return "it is a program of Go, which moves its stacks";
	if (at->text && at->text->when)
		return "it returns under a condition";
	if (at->ref_ctr && !address_of(fs, f, at->ref_ctr, true))
		return "its semaphore is not in the memory of the process";
	if (!dt_elf_is_64(f->elf) || dt_elf_machine(f->elf) != dt_arch_host()->machine)
		return "it is not a 64-bit program";
	if (!dt_elf_offset_to_vaddr(f->elf, offset, &vaddr) || !find_function(f, vaddr, &start, &size))
		return "the size of its function is not known";
	address = address_of(fs, f, offset, false);
	if (!address)
		return "it is not in the memory of the process";
	why = read_function(fs, f, start, size, address - (vaddr - start));
	if (why)
		return why;
	x = dt_body_at(&fs->body, vaddr - start);
	if (!x)
		return "it is not at an instruction";
	return find_window(fs, f, size, (uint32_t)(x - fs->body.insns.v), entry, address - (vaddr - start), p);
}

/* The same place, by another name or for another clause. */
static bool is_same(const struct dt_pe_place *x, const dt_patch *p, const dt_event *event)
{
	return x->patch.at == p->at && x->patch.probe == p->probe && x->patch.size == p->size &&
	       (x->event == event || (!x->event->prologue && !event->prologue && x->event->at.kind == event->at.kind &&
				      x->event->at.kind == DT_AT_UPROBE));
}

/* Is none of its bytes replaced already? */
static bool is_free(const dt_pe_places *all, const dt_patch *p)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i]->patch.at < p->at + p->size && p->at < all->v[i]->patch.at + all->v[i]->patch.size)
			return false;
	return true;
}

struct dt_pe_place *dt_pe_place(dt_pe_places *all, struct dt_pe_files *files, const dt_probe *probe, const dt_event *event,
				dt_error *err)
{
	struct file *f = event->at.path ? file_of(files, event->at.path, err) : NULL;
	dt_patch p = {0};
	const char *why = "only probes in processes are available";
	struct dt_pe_place *x;

	if (f) {
		sweep(files, f);
		why = place_event(files, f, probe, &event->at, &p);
	}
	for (uint32_t i = 0; !why && i < all->n; i++) {
		x = all->v[i];
		if (is_same(x, &p, event))
			return x;
	}
	if (!why && !is_free(all, &p))
		why = "another probe is too near";
	if (why) {
		dt_err(err, EDT_NOPROBE, "%s:%s:%s:%s: %s", probe->prov, probe->mod, probe->func, probe->name, why);
		return NULL;
	}
	x = dt_xcalloc(1, sizeof(*x));
	x->patch = p;
	x->event = event;
	x->semaphore = event->at.ref_ctr ? address_of(files, f, event->at.ref_ctr, true) : 0;
	*dt_vec_add(all, NULL) = x;
	return x;
}

/* ---- system calls ---- */

/* Instructions before number i, of which the last one has just run when the probe fires; or after it. */
static bool call_window(const struct dt_pe_files *fs, const struct file *f, uint64_t size, uint32_t i, bool after, uint64_t base,
			dt_patch *p)
{
	const dt_insn *v = fs->body.insns.v;
	uint32_t from = after ? i + 1 : i, to = after ? i + 1 : i - 1;

	if (after) {
		while (to + 1 < fs->body.insns.n && v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP)
			to++;
		p->at = base + v[from].offset;
		return v[to].offset + v[to].length - v[from].offset >= DT_PATCH_JUMP && !try_window(fs, f, size, from, to, from, p);
	}
	while (from > 0 && v[i].offset - v[from].offset < DT_PATCH_JUMP && !is_end(&v[from - 1]))
		from--;
	p->at = base + v[from].offset;
	return i > 0 && v[i].offset - v[from].offset >= DT_PATCH_JUMP &&
	       !is_target(f, fs->body.vaddr + v[i].offset - 1, fs->body.vaddr + v[i].offset + 1) && /* past the probe */
	       !try_window(fs, f, size, from, to, i, p);
}

static void add_call(dt_pe_places *all, const dt_patch *p, enum dt_pe_call_kind kind, uint64_t at)
{
	static const dt_event event; /* there is nothing to compute */
	struct dt_pe_place *x = dt_xcalloc(1, sizeof(*x));

	*x = (struct dt_pe_place){.patch = *p, .event = &event, .call = kind, .call_at = at};
	*dt_vec_add(all, NULL) = x;
}

/* The calls of one function, which has been decoded. A function that ends with one is what signal handlers return to. */
static void place_calls(dt_pe_places *all, struct dt_pe_files *fs, const struct file *f, uint64_t size, uint64_t base, bool returns,
			struct dt_pe_found *found)
{
	const dt_insn *v = fs->body.insns.v;

	for (uint32_t i = 0; i + 1 < fs->body.insns.n && v[i + 1].offset < size; i++) {
		dt_patch before = {0}, after = {0};

		if (dt_trap_find_call(fs->code + v[i].offset, v[i].length) != 0)
			continue;
		if (!call_window(fs, f, size, i, false, base, &before) || !is_free(all, &before)) {
			found->missed++;
			continue;
		}
		found->placed++;
		add_call(all, &before, DT_PE_CALL, base + v[i].offset);
		if (!returns)
			continue;
		if (call_window(fs, f, size, i, true, base, &after) && is_free(all, &after))
			add_call(all, &after, DT_PE_CALLED, base + v[i].offset);
		else
			found->halves++;
	}
}

static void place_calls_of(dt_pe_places *all, struct dt_pe_files *fs, struct file *f, bool returns, struct dt_pe_found *found)
{
	uint64_t start, end, offset;
	struct dt_cfi_walk w;

	sweep(fs, f);
	dt_cfi_walk(f->elf, &w);
	while (dt_cfi_next(&w, &start, &end)) {
		uint64_t size = end - start, n = size < FUNCTION_MAX ? dt_elf_read(f->elf, start, fs->code, size) : 0, base;

		if (dt_trap_find_call(fs->code, n) >= n || !dt_elf_vaddr_to_offset(f->elf, start, &offset))
			continue;
		base = address_of(fs, f, offset, false);
		if (base && !read_function(fs, f, start, size, base))
			place_calls(all, fs, f, size, base, returns, found);
		else
			found->missed++;
	}
}

struct dt_pe_found dt_pe_place_calls(dt_pe_places *all, struct dt_pe_files *fs, bool returns)
{
	struct dt_pe_found found = {0};
	dt_error err;

	for (uint32_t i = 0; i < fs->maps->n; i++) {
		const dt_mapping *m = &fs->maps->v[i];
		bool seen = false;
		struct file *f;
		char *path;

		for (uint32_t k = 0; k < i; k++)
			seen = seen || (fs->maps->v[k].exec && fs->maps->v[k].inode == m->inode && fs->maps->v[k].kind == DT_MAP_FILE);
		if (!m->exec || m->kind != DT_MAP_FILE || seen)
			continue;
		path = dt_proc_path(fs->pid, m->path);
		f = file_of(fs, path, &err);
		free(path);
		if (f && !f->go && f->inode == m->inode && dt_elf_is_64(f->elf))
			place_calls_of(all, fs, f, returns, &found);
	}
	return found;
}
