/*
 * elf_serve: the helper's side of an object that it reads for the tracer (elf_remote.h).
 *
 * Each request opens the file again, by the descriptor that came with it. An empty answer: it
 * cannot be read (any more).
 */
#include <stdlib.h>

#include "elf/elf_remote.h"

#define LONGEST_SECTION 64 /* bytes of a name that can be requested */

static int take_file(struct dt_question *q, uint32_t i)
{
	int fd = i < q->nfds ? q->fd[i] : -1;

	if (fd >= 0)
		q->fd[i] = -1;
	return fd;
}

/* The file of the question; NULL with *err. */
static dt_elf *open_file(struct dt_question *q, dt_error *err)
{
	int fd = take_file(q, 0);

	return fd >= 0 ? dt_elf_open_fd(fd, NULL, err) : NULL;
}

/* ---- headers ---- */

static void put_segments(const dt_elf *e, dt_buf *out)
{
	dt_put_u32(out, e->segs.n);
	for (uint32_t i = 0; i < e->segs.n; i++) {
		const struct dt_elf_segment *s = &e->segs.v[i];

		dt_put_u64(out, s->vaddr);
		dt_put_u64(out, s->offset);
		dt_put_u64(out, s->file_size);
		dt_put_u64(out, s->mem_size);
		dt_put_u32(out,
			   (s->read ? PF_R : 0) | (s->write ? PF_W : 0) | (s->exec ? PF_X : 0));
	}
}

static void put_sections(dt_elf *e, dt_buf *out)
{
	size_t names, at = out->n;
	Elf_Scn *scn = NULL;
	uint32_t n = 0;
	GElf_Shdr sh;

	dt_put_u32(out, 0);
	if (elf_getshdrstrndx(e->elf, &names) != 0 || !dt_elf_string(e, e->elf, names, 0))
		return;
	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, &sh) || !(s = elf_strptr(e->elf, names, sh.sh_name)) ||
		    strnlen(s, LONGEST_SECTION) == LONGEST_SECTION)
			continue;
		dt_put_string(out, s);
		dt_put_u32(out, sh.sh_type);
		dt_put_u64(out, sh.sh_addr);
		dt_put_u64(out, sh.sh_offset);
		dt_put_u64(out, sh.sh_size);
		n++;
	}
	memcpy(out->s + at, &n, sizeof(n));
}

static void put_dynamic(dt_elf *e, dt_buf *out)
{
	dt_elf_read_dynamic(e);
	dt_put_string(out, e->dynamic.soname);
	dt_put_string(out, e->dynamic.search);
	dt_put_u32(out, e->dynamic.needed.n);
	for (uint32_t i = 0; i < e->dynamic.needed.n; i++)
		dt_put_string(out, e->dynamic.needed.v[i]);
}

void dt_elf_serve_headers(struct dt_question *q, dt_buf *out)
{
	dt_error err = {0};
	dt_elf *e = open_file(q, &err);

	if (!e) {
		dt_put_string(out, err.text);
		dt_put_u32(out, (uint32_t)err.code);
		return;
	}
	dt_put_string(out, NULL);
	dt_put_u32(out, e->kind);
	dt_put_u32(out, e->ehdr.e_ident[EI_CLASS]);
	dt_put_u32(out, e->ehdr.e_machine);
	dt_put_u64(out, e->ehdr.e_entry);
	dt_put_bytes(out, e->build_id, e->build_id_len);
	dt_put_string(out, e->interp);
	put_dynamic(e, out);
	put_segments(e, out);
	put_sections(e, out);
	dt_elf_free(e);
}

/* ---- symbols ---- */

static void put_table(const dt_symtab *t, dt_buf *names, dt_buf *out)
{
	dt_put_u32(out, t->syms.n);
	for (uint32_t i = 0; i < t->syms.n; i++) {
		const dt_elfsym *s = &t->syms.v[i];
		struct dt_elf_wire_symbol w = {
		    .vaddr = s->vaddr,
		    .size = s->size,
		    .name = (uint32_t)names->n,
		    .length = s->name_len,
		    .type = s->type,
		    .flags =
			(uint8_t)((s->bind & DT_WIRE_BIND) | (s->alias ? DT_WIRE_ALIAS : 0) |
				  (s->plt ? DT_WIRE_PLT : 0) | (s->unsized ? DT_WIRE_UNSIZED : 0)),
		};

		dt_buf_add(names, s->name, s->name_len);
		dt_buf_putc(names, 0);
		dt_buf_add(out, &w, sizeof(w));
	}
}

void dt_elf_serve_symbols(struct dt_question *q, dt_buf *out)
{
	int fd = take_file(q, 0), debug = take_file(q, 1);
	dt_error err;
	dt_elf *e = fd >= 0 ? dt_elf_open_pair(fd, debug, &err) : NULL;
	const dt_elfsym *syms;
	dt_buf names = {0}, tables = {0};

	if (!e)
		return;
	dt_elf_functions(e, &syms);
	put_table(&e->functions, &names, &tables);
	put_table(&e->data, &names, &tables);
	if (tables.n + names.n > DT_MAX_READER_ANSWER - DT_KB(64)) {
		dt_elf_left_out(e, "symbols", tables.n + names.n);
		dt_put_string(out, dt_elf_problem(e));
		dt_put_u32(out, 0);
		dt_put_u32(out, 0);
		dt_put_bytes(out, NULL, 0);
	} else {
		dt_put_string(out, dt_elf_problem(e));
		dt_buf_add(out, tables.s, tables.n);
		dt_put_bytes(out, names.s, names.n);
	}
	dt_buf_free(&tables);
	dt_buf_free(&names);
	dt_elf_free(e);
}

/* The vaddrs of the question, ascending. */
void dt_elf_serve_names(struct dt_question *q, dt_buf *out)
{
	int fd = take_file(q, 0), debug = take_file(q, 1);
	dt_error err;
	dt_elf *e = fd >= 0 ? dt_elf_open_pair(fd, debug, &err) : NULL;

	if (!e)
		return;
	e->near = q->data;
	e->nnear = (uint32_t)(q->size / sizeof(*e->near));
	for (uint32_t i = 0; i < e->nnear; i++) {
		const dt_elfsym *sym = out->n < DT_MAX_ELF_NOTE ? dt_elf_function_at(e, e->near[i]) : NULL;

		dt_put_string(out, sym ? sym->name : NULL);
	}
	dt_elf_free(e);
}

/* ---- sections ---- */

void dt_elf_serve_section(struct dt_question *q, dt_buf *out)
{
	dt_message m = dt_message_of(q->data, q->size);
	const char *name = dt_get_string(&m);
	struct dt_elf_section s;
	dt_error err;
	dt_elf *e = open_file(q, &err);

	if (e && name && dt_elf_section(e, name, &s) && s.data)
		dt_buf_add(out, s.data, s.data_size);
	dt_elf_free(e);
}

void dt_elf_serve_probes(struct dt_question *q, dt_buf *out)
{
	dt_error err;
	dt_elf *e = open_file(q, &err);
	size_t it = 0;
	dt_sdt s;

	while (e && dt_sdt_next(e, &it, &s)) {
		dt_put_u64(out, s.pc);
		dt_put_u64(out, s.semaphore);
		dt_put_string(out, s.prov);
		dt_put_string(out, s.name);
		dt_put_string(out, s.args);
	}
	dt_elf_free(e);
}

void dt_elf_serve_unwind(struct dt_question *q, dt_buf *out)
{
	dt_error err;
	dt_elf *e = open_file(q, &err);
	dt_unwind u = {0};

	if (e)
		dt_unwind_read(e, &u);
	dt_buf_add(out, u.rows, u.n * sizeof(*u.rows));
	dt_unwind_free(&u);
	dt_elf_free(e);
}

void dt_elf_serve_ranges(struct dt_question *q, dt_buf *out)
{
	dt_error err;
	dt_elf *e = open_file(q, &err);
	struct dt_cfi_walk w;
	uint64_t start, end;

	if (!e)
		return;
	dt_cfi_walk(e, &w);
	while (dt_cfi_next(&w, &start, &end)) {
		dt_put_u64(out, start);
		dt_put_u64(out, end);
	}
	dt_elf_free(e);
}
