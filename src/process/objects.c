/*
 * objects: the files that a target has mapped: their code, and where in the process it is.
 *
 * They stay known while the target is traced: what is mapped changes, a file that is loaded again is the same. A file is known
 * by its path and its inode: another one may take its name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/patch.h"
#include "elf/cfi.h"
#include "process/objects.h"

#define GAP_MAX	   4096 /* of code without unwind information, between functions that have it */
#define READ_AHEAD (64u << 10)

/* Code of a file, and what is in memory in its place. Functions are next to each other: many are read at once. */
struct dt_pe_piece {
	const struct dt_pe_file *of; /* NULL: nothing has been read */
	uint64_t vaddr, address;
	size_t n, nmemory;
	bool is_last; /* of its segment */
	uint8_t file[DT_PE_FUNCTION_MAX + READ_AHEAD], memory[DT_PE_FUNCTION_MAX + READ_AHEAD];
};

struct dt_pe_files *dt_pe_files_new(long pid, dt_jail *jail)
{
	struct dt_pe_files *f = dt_xcalloc(1, sizeof(*f));

	f->pid = pid;
	f->jail = jail;
	f->code = dt_xmalloc(DT_PE_FUNCTION_MAX + DT_PATCH_MAX);
	f->piece = dt_xmalloc(sizeof(*f->piece));
	f->piece->of = NULL;
	return f;
}

void dt_pe_files_see(struct dt_pe_files *f, const dt_maps *maps)
{
	f->maps = maps;
	f->last_path = NULL;
	f->piece->of = NULL;
}

void dt_pe_files_free(struct dt_pe_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->v.n; i++) {
		dt_elf_free(f->v.v[i]->elf);
		dt_vec_free(&f->v.v[i]->targets);
		dt_vec_free(&f->v.v[i]->code);
		free(f->v.v[i]->path);
		free(f->v.v[i]);
	}
	dt_vec_free(&f->v);
	dt_body_free(&f->body);
	free(f->code);
	free(f->piece);
	free(f);
}

static struct dt_pe_file *open_file(struct dt_pe_files *fs, const char *path, dt_error *err)
{
	struct dt_elf_place place = {.path = path, .jail = fs->jail};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dt_elf_section sec;
	struct dt_pe_file *f;
	struct stat st;
	dt_elf *elf;

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
	*f = (struct dt_pe_file){.path = dt_xstrdup(path), .elf = elf, .inode = st.st_ino};
	f->go = dt_elf_section(elf, ".note.go.buildid", &sec) || dt_elf_section(elf, ".go.buildinfo", &sec);
	if (dt_elf_section(elf, "__rseq_cs", &sec)) {
		f->sequences = sec.vaddr;
		f->sequences_end = sec.vaddr + sec.size;
	}
	*dt_vec_add(&fs->v, NULL) = f;
	return f;
}

/* Events of one object follow each other, and have the same path. */
struct dt_pe_file *dt_pe_file(struct dt_pe_files *fs, const char *path, dt_error *err)
{
	struct dt_pe_file *f = NULL;
	struct stat st;

	if (path == fs->last_path)
		return fs->last;
	if (stat(path, &st) < 0) {
		dt_err(err, EDT_NOPROBE, "its file cannot be opened");
		return NULL;
	}
	for (uint32_t i = 0; i < fs->v.n && !f; i++)
		if (fs->v.v[i]->inode == st.st_ino && strcmp(fs->v.v[i]->path, path) == 0)
			f = fs->v.v[i];
	f = f ? f : open_file(fs, path, err);
	fs->last_path = f ? path : NULL;
	fs->last = f;
	return f;
}

/* ---- jumps ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Are both ends in one part of the file with code? */
static bool is_code(const struct dt_pe_file *f, uint64_t start, uint64_t end)
{
	const struct dt_elf_segment *segs;
	uint32_t n = dt_elf_segments(f->elf, &segs);

	for (uint32_t i = 0; i < n; i++)
		if (segs[i].exec && start >= segs[i].vaddr && end <= segs[i].vaddr + segs[i].file_size)
			return true;
	return false;
}

static void sweep_range(struct dt_pe_files *fs, struct dt_pe_file *f, uint64_t start, uint64_t size)
{
	*dt_vec_add(&f->targets, NULL) = start;
	if (size > DT_PE_FUNCTION_MAX)
		size = DT_PE_FUNCTION_MAX;
	size = dt_elf_read(f->elf, start, fs->code, size);
	dt_jump_targets_add(&f->targets, &(struct dt_insn_mode){0}, fs->code, size, start);
}

static int by_start(const void *a, const void *b)
{
	const struct dt_pe_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The code that has unwind information. Between two such functions there may be more, in the same section. */
static void find_code(struct dt_pe_file *f)
{
	struct dt_cfi_walk w;
	uint64_t start, end;

	dt_cfi_walk(f->elf, &w);
	while (dt_cfi_next(&w, &start, &end))
		*dt_vec_add(&f->code, NULL) = (struct dt_pe_range){start, end - start, end - start};
	if (f->code.n)
		qsort(f->code.v, f->code.n, sizeof(*f->code.v), by_start);
	for (uint32_t i = 0; i + 1 < f->code.n; i++) {
		uint64_t next = f->code.v[i + 1].start, gap = next - (f->code.v[i].start + f->code.v[i].size);

		if (next > f->code.v[i].start && gap && gap < GAP_MAX && is_code(f, f->code.v[i].start, next))
			f->code.v[i].size += gap;
	}
}

bool dt_pe_code_of(const struct dt_pe_file *f, uint32_t i, struct dt_pe_range *to)
{
	if (i < f->code.n)
		*to = f->code.v[i];
	return i < f->code.n;
}

/* Every function that has unwind information, and those that have only a symbol. */
static void sweep(struct dt_pe_files *fs, struct dt_pe_file *f)
{
	const dt_elfsym *syms;
	uint32_t n;

	f->swept = true;
	find_code(f);
	for (uint32_t i = 0; i < f->code.n; i++)
		sweep_range(fs, f, f->code.v[i].start, f->code.v[i].size);
	n = dt_elf_functions(f->elf, &syms);
	for (uint32_t i = 0; i < n; i++) {
		struct dt_pe_range key = {.start = syms[i].vaddr};

		if (syms[i].alias || syms[i].plt)
			continue;
		if (f->code.n && bsearch(&key, f->code.v, f->code.n, sizeof(*f->code.v), by_start))
			continue;
		sweep_range(fs, f, syms[i].vaddr, syms[i].size);
	}
	if (f->targets.n)
		qsort(f->targets.v, f->targets.n, sizeof(*f->targets.v), by_value);
}

void dt_pe_sweep(struct dt_pe_files *fs, struct dt_pe_file *f)
{
	if (!f->swept)
		sweep(fs, f);
}

bool dt_pe_is_target(const struct dt_pe_file *f, uint64_t after, uint64_t before)
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

/* ---- where it is ---- */

/* Memory that is shared could be the file itself: what is written there would be in all processes. */
bool dt_pe_is_code_of(const dt_mapping *m, const struct dt_pe_file *f)
{
	return m->kind == DT_MAP_FILE && m->exec && !m->shared && m->inode == f->inode;
}

const dt_mapping *dt_pe_mapping(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t offset, uint32_t *it)
{
	while (*it < fs->maps->n) {
		const dt_mapping *m = &fs->maps->v[(*it)++];

		if (dt_pe_is_code_of(m, f) && offset - m->offset < m->end - m->start)
			return m;
	}
	return NULL;
}

/* An object may be mapped several times (dlmopen): its parts have the same distance from the addresses in the file. */
uint64_t dt_pe_data_address(const struct dt_pe_files *fs, const struct dt_pe_file *f, const dt_mapping *code, uint64_t offset)
{
	const struct dt_elf_segment *segs;
	uint32_t n = dt_elf_segments(f->elf, &segs);
	uint64_t bias, at = 0;
	const dt_mapping *m;

	if (!dt_elf_bias(f->elf, code->start, code->offset, &bias))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (segs[i].write && offset - segs[i].offset < segs[i].file_size)
			at = bias + segs[i].vaddr + (offset - segs[i].offset);
	m = at ? dt_maps_find(fs->maps, at) : NULL;
	return m && m->kind == DT_MAP_FILE && m->write && !m->shared && m->inode == f->inode && m->offset + (at - m->start) == offset ? at : 0;
}

/* ---- functions ---- */

bool dt_pe_find_function(const struct dt_pe_file *f, uint64_t vaddr, uint64_t *start, uint64_t *size)
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

/* A function that tells the kernel of a restartable sequence refers to its description. In one a thread must not run anything else:
 * if it is interrupted there, the kernel does not restart it. And the kernel jumps to where it begins again. */
static bool has_sequence(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t size)
{
	const dt_insn *v = fs->body.insns.v;

	for (uint32_t i = 0; f->sequences && i < fs->body.insns.n && v[i].offset < size; i++)
		if (dt_arch_host()->code->refers(fs->code + v[i].offset, v[i].length, fs->body.vaddr + v[i].offset, f->sequences, f->sequences_end))
			return true;
	return false;
}

static bool has_piece(const struct dt_pe_piece *c, const struct dt_pe_file *f, uint64_t start, uint64_t size, uint64_t address)
{
	uint64_t at = start - c->vaddr;

	return c->of == f && c->address - c->vaddr == address - start && start >= c->vaddr && at <= c->n &&
	       c->n - at >= size + (c->is_last ? 0 : DT_PATCH_MAX);
}

static void read_piece(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t start, uint64_t size, uint64_t address)
{
	struct dt_pe_piece *c = fs->piece;
	size_t want = size + READ_AHEAD;
	struct iovec local, remote;
	ssize_t got;

	c->of = f;
	c->vaddr = start;
	c->address = address;
	c->n = dt_elf_read(f->elf, start, c->file, want);
	c->is_last = c->n < want;
	local = (struct iovec){c->memory, c->n};
	remote = (struct iovec){(void *)(uintptr_t)address, c->n};
	got = process_vm_readv((pid_t)fs->pid, &local, 1, &remote, 1, 0);
	c->nmemory = got > 0 ? (size_t)got : 0;
}

/* The code of a function into fs->code, with a few bytes after it. NULL, or why not. */
static const char *read_code(struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t start, uint64_t size, uint64_t address, size_t *n)
{
	const struct dt_pe_piece *c = fs->piece;
	uint64_t at;

	if (size > DT_PE_FUNCTION_MAX)
		return "its function is too large";
	if (!has_piece(c, f, start, size, address))
		read_piece(fs, f, start, size, address);
	at = start - c->vaddr;
	if (c->n - at < size)
		return "its code cannot be read";
	*n = c->n - at < size + DT_PATCH_MAX ? c->n - at : size + DT_PATCH_MAX;
	if (c->nmemory < at + *n || memcmp(c->memory + at, c->file + at, *n) != 0)
		return "its code in memory is not that of its file";
	memcpy(fs->code, c->file + at, *n);
	return NULL;
}

/* Does an instruction end with the function? */
static bool is_understood(const dt_body *b, uint64_t size)
{
	uint32_t i = 0;

	while (i < b->insns.n && b->insns.v[i].offset + b->insns.v[i].length < size)
		i++;
	return i < b->insns.n && b->insns.v[i].offset + b->insns.v[i].length == size;
}

const char *dt_pe_read_function(struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t start, uint64_t size, uint64_t address)
{
	size_t n;
	const char *why = read_code(fs, f, start, size, address, &n);

	if (why)
		return why;
	dt_body_decode(&fs->body, &(struct dt_insn_mode){0}, fs->code, n, start);
	if (!is_understood(&fs->body, size))
		return "its code is not understood";
	if (has_sequence(fs, f, size))
		return "it has a restartable sequence (rseq)";
	return NULL;
}
