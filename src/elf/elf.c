/*
 * elf: see elf.h. libelf reads the file (with pread, never mmap) and checks what it reads against
 * the size of the file; what it does not check is checked here: sizes of compressed sections,
 * notes, segments that wrap around.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_remote.h"

#define MAX_DEFLATE    1032 /* zlib cannot exceed this ratio */
#define USUAL_RATIO    64   /* and no useful data compresses better than this */
#define NT_GNU_BUILDID 3

static int refuse(dt_error *err, const char *name, const char *why)
{
	return dt_err(err, ENOEXEC, "%s%s%s", name ? name : "", name ? ": " : "", why);
}

/* ---- open ---- */

static void read_segments(dt_elf *e)
{
	size_t n;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && e->segs.n < DT_MAX_ELF_SEGMENTS; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p))
			return;
		if (p.p_type != PT_LOAD || p.p_memsz == 0 || p.p_vaddr + p.p_memsz < p.p_vaddr ||
		    p.p_offset + p.p_filesz < p.p_offset || p.p_filesz > p.p_memsz)
			continue;
		*dt_vec_add(&e->segs, NULL) = (struct dt_elf_segment){
		    .vaddr = p.p_vaddr,
		    .offset = p.p_offset,
		    .file_size = p.p_filesz,
		    .mem_size = p.p_memsz,
		    .read = p.p_flags & PF_R,
		    .write = p.p_flags & PF_W,
		    .exec = p.p_flags & PF_X,
		};
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct dt_elf_segment *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

size_t dt_elf_read_at(const dt_elf *e, uint64_t offset, void *to, size_t n)
{
	size_t have = 0;
	ssize_t got;

	if (offset > INT64_MAX)
		return 0;
	if (e->memory) {
		if (offset >= e->memory_size)
			return 0;
		if (n > e->memory_size - offset)
			n = e->memory_size - offset;
		memcpy(to, e->memory + offset, n);
		return n;
	}
	if (e->fd < 0)
		return 0;
	while (have < n &&
	       (got = pread(e->fd, (char *)to + have, n - have, (off_t)(offset + have))) > 0)
		have += (size_t)got;
	return have;
}

/* The next note in data[*at..): false at the end or when it does not fit. */
struct note {
	uint32_t type;
	const char *name;
	uint32_t name_size;
	const uint8_t *desc;
	uint32_t desc_size;
};

static bool next_note(const uint8_t *data, size_t size, size_t *at, struct note *n)
{
	uint32_t head[3];
	uint64_t name, desc, end;

	if (*at > size || size - *at < sizeof(head))
		return false;
	memcpy(head, data + *at, sizeof(head));
	name = *at + sizeof(head);
	desc = name + dt_align_up(head[0], 4);
	end = desc + head[1];
	if (end > size)
		return false;
	n->type = head[2];
	n->name = (const char *)data + name;
	n->name_size = head[0];
	n->desc = data + desc;
	n->desc_size = head[1];
	*at = dt_align_up(end, 4);
	return true;
}

static bool note_is(const struct note *n, const char *owner, uint32_t type)
{
	size_t len = strlen(owner) + 1;

	return n->type == type && n->name_size == len && memcmp(n->name, owner, len) == 0;
}

static bool find_build_id(dt_elf *e, const void *data, size_t size)
{
	struct note n;
	size_t at = 0;

	while (next_note(data, size, &at, &n)) {
		if (!note_is(&n, "GNU", NT_GNU_BUILDID) || n.desc_size == 0 ||
		    n.desc_size > sizeof(e->build_id))
			continue;
		memcpy(e->build_id, n.desc, n.desc_size);
		e->build_id_len = n.desc_size;
		return true;
	}
	return false;
}

/* The build id is in a note segment; debug files keep only the section. */
static void read_notes(dt_elf *e)
{
	Elf_Scn *scn = NULL;
	size_t n;

	if (elf_getphdrnum(e->elf, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n && e->build_id_len == 0; i++) {
		uint8_t buf[4096];
		GElf_Phdr p;
		size_t size;

		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_NOTE)
			continue;
		size = p.p_filesz < sizeof(buf) ? p.p_filesz : sizeof(buf);
		find_build_id(e, buf, dt_elf_read_at(e, p.p_offset, buf, size));
	}
	while (e->build_id_len == 0 && (scn = elf_nextscn(e->elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE ||
		    !(d = dt_elf_section_data(e, scn, &sh)))
			continue;
		find_build_id(e, d->d_buf, d->d_size);
	}
}

static void read_interp(dt_elf *e)
{
	size_t n;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && !e->interp; i++) {
		char buf[4096];
		GElf_Phdr p;
		size_t size;

		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_INTERP)
			continue;
		size = dt_elf_read_at(e, p.p_offset, buf,
				      p.p_filesz < sizeof(buf) ? p.p_filesz : sizeof(buf) - 1);
		if (size > 0 && strnlen(buf, size) < size)
			e->interp = dt_xstrdup(buf);
	}
}

/* Position-independent executables are ET_DYN like libraries; DF_1_PIE or an interpreter
 * distinguishes them.
 */
static enum dt_elf_kind find_kind(dt_elf *e)
{
	if (e->ehdr.e_type == ET_EXEC)
		return DT_ELF_EXEC;
	if (e->ehdr.e_type != ET_DYN)
		return DT_ELF_OTHER;
	if (!e->interp)
		dt_elf_read_dynamic(e);
	return e->interp || e->dynamic.pie ? DT_ELF_PIE : DT_ELF_SHARED;
}

static int read_headers(dt_elf *e, const struct dt_elf_place *place, dt_error *err)
{
	if (place && place->jail)
		return dt_elf_ask_headers(e, place, err);
	if (dt_elf_check_header(e, err) < 0)
		return -1;
	elf_version(EV_CURRENT);
	e->elf =
	    e->memory ? elf_memory(e->memory, e->memory_size) : elf_begin(e->fd, ELF_C_READ, NULL);
	if (!e->elf)
		return refuse(err, e->path, "cannot be read as an ELF file");
	if (elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &e->ehdr))
		return refuse(err, e->path, "not an ELF file");
	if (e->ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return refuse(err, e->path, "an ELF file of another byte order");
	read_segments(e);
	if (e->segs.n)
		qsort(e->segs.v, e->segs.n, sizeof(*e->segs.v), by_vaddr);
	read_notes(e);
	read_interp(e);
	e->kind = find_kind(e);
	return 0;
}

static char *copy(const char *s)
{
	return s ? dt_xstrdup(s) : NULL;
}

static dt_elf *object_new(const struct dt_elf_place *place)
{
	dt_elf *e = dt_xcalloc(1, sizeof(*e));

	e->fd = -1;
	e->arena = dt_arena_new();
	if (place) {
		e->root = copy(place->root);
		e->path = copy(place->path);
		e->debug_dir = copy(place->debug_dir);
		e->stop = place->stop;
	}
	return e;
}

dt_elf *dt_elf_open_fd(int fd, const struct dt_elf_place *place, dt_error *err)
{
	dt_elf *e = object_new(place);
	struct stat st;

	e->fd = fd;
	memset(err, 0, sizeof(*err));
	if (fstat(fd, &st) < 0)
		dt_err(err, errno, NULL);
	else if (!S_ISREG(st.st_mode))
		refuse(err, e->path, "not a regular file");
	else if ((uint64_t)st.st_size > DT_MAX_ELF_FILE)
		refuse(err, e->path, "too large for an ELF file");
	else if (read_headers(e, place, err) == 0)
		return e;
	if (place && place->own_jail && !e->remote)
		dt_jail_free(place->jail);
	dt_elf_free(e);
	return NULL;
}

dt_elf *dt_elf_open(const char *path, const struct dt_elf_place *place, dt_error *err)
{
	struct dt_elf_place here = {0};
	int fd = dt_open_regular(AT_FDCWD, path, 0, DT_MAX_ELF_FILE, err);

	if (fd < 0 && place && place->own_jail)
		dt_jail_free(place->jail);
	if (fd < 0)
		return NULL;
	if (place)
		here = *place;
	if (!here.path)
		here.path = path;
	return dt_elf_open_fd(fd, &here, err);
}

dt_elf *dt_elf_open_memory(const void *bytes, size_t n, dt_error *err)
{
	dt_elf *e = object_new(NULL);

	memset(err, 0, sizeof(*err));
	e->memory = dt_xmalloc(n + 1);
	memcpy(e->memory, bytes, n);
	e->memory_size = n;
	if (read_headers(e, NULL, err) == 0)
		return e;
	dt_elf_free(e);
	return NULL;
}

static void let_go(dt_elf *e)
{
	if (e->elf)
		elf_end(e->elf);
	e->elf = NULL;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	free(e->memory);
	e->memory = NULL;
	e->memory_size = 0;
	dt_elf_free(e->debug);
	e->debug = NULL;
	e->debug_searched = true;
	if (e->remote)
		dt_elf_remote_shrink(e);
}

void dt_elf_free(dt_elf *e)
{
	if (!e)
		return;
	let_go(e);
	dt_elf_remote_free(e);
	dt_vec_free(&e->functions.syms);
	dt_vec_free(&e->data.syms);
	free(e->functions.reach);
	free(e->data.reach);
	free(e->functions.slots);
	free(e->data.slots);
	free(e->problem);
	dt_vec_free(&e->segs);
	free(e->root);
	free(e->path);
	free(e->debug_dir);
	free(e->interp);
	dt_elf_free_dynamic(e);
	dt_arena_free(e->arena);
	free(e);
}

void dt_elf_shrink(dt_elf *e)
{
	const dt_elfsym *syms;

	dt_elf_functions(e, &syms);
	dt_elf_read_dynamic(e);
	let_go(e);
}

size_t dt_elf_memory(const dt_elf *e)
{
	return sizeof(*e) + dt_arena_used(e->arena) + e->memory_size +
	       (e->remote ? e->remote->symbols.cap : 0) +
	       (e->functions.syms.cap + (size_t)e->data.syms.cap) * sizeof(dt_elfsym);
}

Elf *dt_elf_again(const dt_elf *e)
{
	if (e->memory)
		return elf_memory(e->memory, e->memory_size);
	return e->fd >= 0 ? elf_begin(e->fd, ELF_C_READ, NULL) : NULL;
}

/* ---- identity ---- */

enum dt_elf_kind dt_elf_kind(const dt_elf *e)
{
	return e->kind;
}

bool dt_elf_is_static(const dt_elf *e)
{
	return (e->kind == DT_ELF_EXEC || e->kind == DT_ELF_PIE) && !e->interp;
}

bool dt_elf_is_64(const dt_elf *e)
{
	return e->ehdr.e_ident[EI_CLASS] == ELFCLASS64;
}

uint16_t dt_elf_machine(const dt_elf *e)
{
	return e->ehdr.e_machine;
}

uint64_t dt_elf_entry(const dt_elf *e)
{
	return e->ehdr.e_entry;
}

const uint8_t *dt_elf_build_id(const dt_elf *e, uint32_t *n)
{
	*n = e->build_id_len;
	return e->build_id;
}

const char *dt_elf_path(const dt_elf *e)
{
	return e->path ? e->path : "";
}

const char *dt_elf_interp(const dt_elf *e)
{
	return e->interp;
}

dt_jail *dt_elf_jail(const dt_elf *e)
{
	return e->remote ? e->remote->jail : NULL;
}

int dt_elf_fd(const dt_elf *e)
{
	return e->fd;
}

/* ---- segments ---- */

uint32_t dt_elf_segments(const dt_elf *e, const struct dt_elf_segment **segs)
{
	*segs = e->segs.v;
	return e->segs.n;
}

/* Called for every symbol, so its cost must not depend on how many segments a file claims to have.
 * They do not overlap, except in damaged files. */
bool dt_elf_in_segment(const dt_elf *e, uint64_t vaddr, bool *exec, uint64_t *end)
{
	uint32_t lo = 0, hi = e->segs.n;
	const struct dt_elf_segment *s;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->segs.v[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	s = lo ? &e->segs.v[lo - 1] : NULL;
	if (!s || vaddr - s->vaddr >= s->mem_size)
		return false;
	*exec = s->exec;
	*end = s->vaddr + s->mem_size;
	return true;
}

bool dt_elf_vaddr_to_offset(const dt_elf *e, uint64_t vaddr, uint64_t *offset)
{
	for (uint32_t i = 0; i < e->segs.n; i++) {
		const struct dt_elf_segment *s = &e->segs.v[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->file_size) {
			*offset = s->offset + (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}

static bool segment_of_offset(const dt_elf *e, uint64_t offset, bool exec, uint64_t *vaddr)
{
	for (uint32_t i = 0; i < e->segs.n; i++) {
		const struct dt_elf_segment *s = &e->segs.v[i];

		if (s->exec == exec && offset >= s->offset && offset - s->offset < s->file_size) {
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool dt_elf_offset_to_vaddr(const dt_elf *e, uint64_t offset, uint64_t *vaddr)
{
	return segment_of_offset(e, offset, true, vaddr) ||
	       segment_of_offset(e, offset, false, vaddr);
}

/* A mapping begins at a page boundary, up to a page before the segment does. Executable segments
 * first: the mappings that matter are of code. */
bool dt_elf_bias(const dt_elf *e, uint64_t start, uint64_t offset, uint64_t *bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (int exec = 1; exec >= 0; exec--) {
		for (uint32_t i = 0; i < e->segs.n; i++) {
			const struct dt_elf_segment *s = &e->segs.v[i];
			uint64_t first = s->offset & ~(page - 1);

			if (s->exec != (bool)exec || s->file_size == 0 || offset < first ||
			    offset >= s->offset + s->file_size)
				continue;
			*bias = start - offset - (s->vaddr - s->offset);
			return true;
		}
	}
	return false;
}

size_t dt_elf_read(dt_elf *e, uint64_t vaddr, void *to, size_t n)
{
	for (uint32_t i = 0; i < e->segs.n; i++) {
		const struct dt_elf_segment *s = &e->segs.v[i];
		uint64_t at = vaddr - s->vaddr;

		if (vaddr < s->vaddr || at >= s->file_size)
			continue;
		if (n > s->file_size - at)
			n = s->file_size - at;
		return dt_elf_read_at(e, s->offset + at, to, n);
	}
	return 0;
}

/* ---- sections ---- */

Elf_Scn *dt_elf_find_section(dt_elf *of, Elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0 || !dt_elf_string(of, elf, names, 0))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *s;

		if (gelf_getshdr(scn, sh) && (s = elf_strptr(elf, names, sh->sh_name)) &&
		    strcmp(s, name) == 0)
			return scn;
	}
	return NULL;
}

Elf_Data *dt_elf_section_data(dt_elf *of, Elf_Scn *scn, const GElf_Shdr *sh)
{
	GElf_Shdr whole = *sh;
	GElf_Chdr ch;
	Elf_Data *d;

	if (sh->sh_type == SHT_NOBITS || !dt_elf_may_read(of, sh))
		return NULL;
	if (sh->sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(scn, &ch))
			return NULL;
		whole.sh_size = ch.ch_size;
		whole.sh_offset = UINT64_MAX; /* not in the file */
		if (!dt_elf_may_read(of, &whole) ||
		    ch.ch_size / (ch.ch_size > DT_MAX_ELF_HOLE ? USUAL_RATIO : MAX_DEFLATE) >
			sh->sh_size ||
		    elf_compress(scn, 0, 0) < 0)
			return NULL;
	}
	d = elf_getdata(scn, NULL);
	return d && d->d_buf && d->d_size ? d : NULL;
}

bool dt_elf_section(dt_elf *e, const char *name, struct dt_elf_section *s)
{
	GElf_Shdr sh;
	Elf_Scn *scn;
	Elf_Data *d;

	if (e->remote)
		return dt_elf_ask_section(e, name, s);
	memset(s, 0, sizeof(*s));
	if (!(scn = dt_elf_find_section(e, e->elf, name, &sh)))
		return false;
	*s = (struct dt_elf_section){
	    .vaddr = sh.sh_addr, .offset = sh.sh_offset, .size = sh.sh_size, .type = sh.sh_type};
	if (sh.sh_type == SHT_NOBITS || sh.sh_size == 0)
		return true;
	if (!(d = dt_elf_section_data(e, scn, &sh)))
		return false;
	s->data = d->d_buf;
	s->data_size = d->d_size;
	return true;
}

bool dt_elf_has_section(dt_elf *e, const char *name, GElf_Shdr *sh)
{
	const GElf_Shdr *known = e->remote ? dt_elf_remote_section(e, name) : NULL;

	if (known)
		*sh = *known;
	return e->remote ? known != NULL : dt_elf_find_section(e, e->elf, name, sh) != NULL;
}

bool dt_elf_in_section(dt_elf *e, const char *name, uint64_t vaddr)
{
	GElf_Shdr sh;

	return dt_elf_has_section(e, name, &sh) && vaddr >= sh.sh_addr &&
	       vaddr - sh.sh_addr < sh.sh_size;
}

/* The sections of static probes, searched for once: a file may have many notes, and many sections. */
static void need_sdt(dt_elf *e)
{
	struct dt_elf_section base;

	if (e->sdt_read || !e->elf)
		return;
	e->sdt_read = true;
	dt_elf_section(e, ".note.stapsdt", &e->sdt);
	e->has_sdt_base = dt_elf_section(e, ".stapsdt.base", &base);
	e->sdt_base = base.vaddr;
}

bool dt_elf_sdt_base(dt_elf *e, uint64_t *vaddr)
{
	need_sdt(e);
	*vaddr = e->sdt_base;
	return e->has_sdt_base;
}

bool dt_elf_next_sdt(dt_elf *e, size_t *it, struct dt_elf_note *note)
{
	struct note n;

	need_sdt(e);
	if (!e->elf || !e->sdt.data)
		return false;
	while (next_note(e->sdt.data, e->sdt.data_size, it, &n)) {
		if (!note_is(&n, "stapsdt", 3))
			continue;
		note->desc = n.desc;
		note->size = n.desc_size;
		return true;
	}
	return false;
}
