/*
 * elf_ask: the tracer's side of an object that a helper reads (elf_remote.h).
 *
 * Answers are treated as hostile: a file may have taken over the helper that reads it. So there are
 * two halves: dt_elf_ask_*() sends a request, dt_elf_take_*() checks and keeps the answer. An
 * invalid answer is discarded, and the file is not asked about again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elf/elf_remote.h"

/* ---- requests ---- */

/* The file as the user knows it. To be freed. */
static char *subject(const dt_elf *e)
{
	char link[64], path[4096];
	ssize_t n;

	if (e->path && *e->path)
		return dt_xasprintf("symbols of %s", e->path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return dt_xasprintf("symbols of %s", n > 0 ? path : "a file");
}

/* False: no answer; the helper has been blamed. */
static bool ask(dt_elf *e, dt_jail_work *work, struct dt_question *q, dt_buf *answer, dt_error *err)
{
	char *what;
	bool ok;

	if (e->fd < 0)
		return false;
	what = subject(e);
	q->fd[0] = e->fd;
	q->nfds = q->nfds ? q->nfds : 1;
	ok = dt_jail_ask(e->remote->jail, what, work, q, answer, err) == 0;
	free(what);
	return ok;
}

bool dt_elf_ask(dt_elf *e, dt_jail_work *work, struct dt_question *q, dt_buf *answer)
{
	return ask(e, work, q, answer, NULL);
}

static int reject(dt_elf *e, const struct dt_question *q, dt_error *err)
{
	char *what = subject(e);

	dt_jail_reject(e->remote->jail, what, q, err);
	free(what);
	return -1;
}

/* Move an answer to where it is kept. */
static void keep(dt_buf *to, dt_buf *answer)
{
	dt_buf_free(to);
	*to = *answer;
	*answer = (dt_buf){0};
}

/* ---- headers ---- */

int dt_elf_ask_headers(dt_elf *e, const struct dt_elf_place *place, dt_error *err)
{
	struct dt_question q = {.lasting = true};
	dt_buf answer = {0};
	int rc = -1;

	e->remote = dt_xcalloc(1, sizeof(*e->remote));
	e->remote->jail = place->jail;
	e->remote->own_jail = place->own_jail;
	if (ask(e, dt_elf_serve_headers, &q, &answer, err))
		rc = !dt_elf_take_headers(e, &answer, err) ? reject(e, &q, err)
		     : err->code			   ? -1
							   : 0;
	dt_buf_free(&answer);
	return rc;
}

static bool is_segment(const struct dt_elf_segment *s, const struct dt_elf_segment *before)
{
	return s->mem_size && s->vaddr + s->mem_size >= s->vaddr &&
	       s->offset + s->file_size >= s->offset && s->file_size <= s->mem_size &&
	       (!before || before->vaddr <= s->vaddr);
}

static void take_segments(dt_elf *e, dt_message *m)
{
	uint32_t n = dt_get_count(m, 4 * sizeof(uint64_t) + sizeof(uint32_t));

	m->bad = m->bad || n > DT_MAX_ELF_SEGMENTS;
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		struct dt_elf_segment s = {.vaddr = dt_get_u64(m)};
		uint32_t flags;

		s.offset = dt_get_u64(m);
		s.file_size = dt_get_u64(m);
		s.mem_size = dt_get_u64(m);
		flags = dt_get_u32(m);
		s.read = flags & PF_R;
		s.write = flags & PF_W;
		s.exec = flags & PF_X;
		m->bad = m->bad || !is_segment(&s, i ? &e->segs.v[i - 1] : NULL);
		*dt_vec_add(&e->segs, NULL) = s;
	}
}

static void take_sections(dt_elf *e, dt_message *m)
{
	uint32_t n = dt_get_count(m, 2 * sizeof(uint32_t) + 3 * sizeof(uint64_t));

	m->bad = m->bad || n > DT_MAX_ELF_SECTIONS;
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		const char *name = dt_get_string(m);
		struct dt_elf_head h = {.name = dt_xstrdup(name ? name : "")};

		h.sh.sh_type = dt_get_u32(m);
		h.sh.sh_addr = dt_get_u64(m);
		h.sh.sh_offset = dt_get_u64(m);
		h.sh.sh_size = dt_get_u64(m);
		*dt_vec_add(&e->remote->sections, NULL) = h;
	}
}

static char *take_path(dt_message *m)
{
	const char *s = dt_get_string(m);

	return s ? dt_xstrdup(s) : NULL;
}

static void take_dynamic(dt_elf *e, dt_message *m)
{
	uint32_t n;

	e->dynamic.read = true;
	e->dynamic.soname = take_path(m);
	e->dynamic.search = take_path(m);
	n = dt_get_count(m, sizeof(uint32_t));
	m->bad = m->bad || n > DT_MAX_ELF_NEEDED;
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		char *s = take_path(m);

		m->bad = m->bad || !s;
		if (s)
			*dt_vec_add(&e->dynamic.needed, NULL) = s;
	}
}

bool dt_elf_take_headers(dt_elf *e, const dt_buf *answer, dt_error *err)
{
	dt_message m = dt_message_of(answer->s, answer->n);
	const char *why = dt_get_string(&m);
	const void *id;
	size_t n;

	if (why) {
		uint32_t code = dt_get_u32(&m);

		dt_err(err, code && code < EDT_BASE_ ? (int)code : ENOEXEC, "%s%s%s",
		       e->path ? e->path : "", e->path ? ": " : "", why);
		return dt_message_is_done(&m);
	}
	e->kind = (enum dt_elf_kind)dt_get_u32(&m);
	e->ehdr.e_ident[EI_CLASS] = (unsigned char)dt_get_u32(&m);
	e->ehdr.e_machine = (uint16_t)dt_get_u32(&m);
	e->ehdr.e_entry = dt_get_u64(&m);
	id = dt_get_bytes(&m, &n);
	if (m.bad || n > sizeof(e->build_id) || (uint32_t)e->kind > DT_ELF_OTHER)
		return false;
	memcpy(e->build_id, id, n);
	e->build_id_len = (uint32_t)n;
	e->interp = take_path(&m);
	take_dynamic(e, &m);
	take_segments(e, &m);
	take_sections(e, &m);
	return dt_message_is_done(&m);
}

/* ---- symbols ---- */

/* The file, and if it is stripped, its debug file. */
static struct dt_question about_symbols(dt_elf *e)
{
	struct dt_question q = {.nfds = 1};
	bool stripped = true;

	for (uint32_t i = 0; i < e->remote->sections.n; i++)
		stripped = stripped && e->remote->sections.v[i].sh.sh_type != SHT_SYMTAB;
	if (stripped && dt_elf_debug(e) && e->debug->fd >= 0) {
		q.fd[1] = e->debug->fd;
		q.nfds = 2;
	}
	return q;
}

void dt_elf_ask_symbols(dt_elf *e)
{
	struct dt_question q = about_symbols(e);
	dt_buf answer = {0};

	if (ask(e, dt_elf_serve_symbols, &q, &answer, NULL) && answer.n &&
	    !dt_elf_take_symbols(e, &answer))
		reject(e, &q, NULL);
	dt_buf_free(&answer);
}

void dt_elf_ask_names(dt_elf *e, const uint64_t *vaddrs, uint32_t n, const char **names)
{
	struct dt_question q = about_symbols(e);
	dt_buf answer = {0};

	q.data = vaddrs;
	q.size = n * sizeof(*vaddrs);
	if (ask(e, dt_elf_serve_names, &q, &answer, NULL) && answer.n &&
	    !dt_elf_take_names(e, &answer, n, names)) {
		memset(names, 0, n * sizeof(*names));
		reject(e, &q, NULL);
	}
	dt_buf_free(&answer);
}

bool dt_elf_take_names(dt_elf *e, dt_buf *answer, uint32_t n, const char **names)
{
	dt_message m = dt_message_of(answer->s, answer->n);

	for (uint32_t i = 0; i < n; i++)
		names[i] = dt_get_string(&m);
	if (!dt_message_is_done(&m))
		return false;
	keep(dt_vec_add(&e->remote->names, NULL), answer);
	return true;
}

static bool is_name(const char *names, size_t size, uint32_t at, size_t n)
{
	return n < size && at <= size - n - 1 && strnlen(names + at, n + 1) == n;
}

/* In order of addresses; the first of each address is not an alias. */
static bool take_table(const struct dt_elf_wire_symbol *from, uint32_t n, const char *names,
		       size_t size, dt_symtab *to)
{
	to->syms.v = dt_xcalloc(n + 1, sizeof(*to->syms.v));
	to->syms.cap = n + 1;
	for (uint32_t i = 0; i < n; i++) {
		struct dt_elf_wire_symbol w;
		uint64_t before = i ? to->syms.v[i - 1].vaddr : 0;
		bool alias;

		memcpy(&w, (const char *)from + i * sizeof(w), sizeof(w));
		alias = w.flags & DT_WIRE_ALIAS;
		if (!is_name(names, size, w.name, w.length) || w.length >= DT_MAX_ELF_NAME ||
		    (i ? w.vaddr < before || alias != (w.vaddr == before) : alias))
			return false;
		*dt_vec_add(&to->syms, NULL) = (dt_elfsym){.vaddr = w.vaddr,
							   .size = w.size,
							   .name = names + w.name,
							   .name_len = w.length,
							   .bind = w.flags & DT_WIRE_BIND,
							   .type = w.type,
							   .alias = alias,
							   .plt = w.flags & DT_WIRE_PLT,
							   .unsized = w.flags & DT_WIRE_UNSIZED};
	}
	if (n)
		dt_elf_find_reach(to);
	return true;
}

static void forget(dt_symtab *t)
{
	dt_vec_free(&t->syms);
	free(t->reach);
	t->reach = NULL;
}

bool dt_elf_take_symbols(dt_elf *e, dt_buf *answer)
{
	const size_t each = sizeof(struct dt_elf_wire_symbol);
	dt_message m = dt_message_of(answer->s, answer->n);
	const char *problem = dt_get_string(&m), *names;
	uint32_t nfuncs = dt_get_count(&m, each);
	const void *funcs = dt_get_raw(&m, nfuncs * each);
	uint32_t ndata = dt_get_count(&m, each);
	const void *data = dt_get_raw(&m, ndata * each);
	size_t size;

	names = dt_get_bytes(&m, &size);
	if (!dt_message_is_done(&m) || nfuncs > DT_MAX_ELF_SYMBOLS || ndata > DT_MAX_ELF_SYMBOLS)
		return false;
	if (!take_table(funcs, nfuncs, names, size, &e->functions) ||
	    !take_table(data, ndata, names, size, &e->data)) {
		forget(&e->functions);
		forget(&e->data);
		return false;
	}
	if (problem && !e->problem)
		e->problem = dt_xstrdup(problem);
	keep(&e->remote->symbols, answer);
	return true;
}

/* ---- sections ---- */

static struct dt_elf_head *find_section(const dt_elf *e, const char *name)
{
	for (uint32_t i = 0; i < e->remote->sections.n; i++)
		if (strcmp(e->remote->sections.v[i].name, name) == 0)
			return &e->remote->sections.v[i];
	return NULL;
}

const GElf_Shdr *dt_elf_remote_section(const dt_elf *e, const char *name)
{
	const struct dt_elf_head *h = find_section(e, name);

	return h ? &h->sh : NULL;
}

bool dt_elf_ask_section(dt_elf *e, const char *name, struct dt_elf_section *s)
{
	struct dt_elf_head *h = find_section(e, name);
	struct dt_question q = {0};
	dt_buf question = {0};

	memset(s, 0, sizeof(*s));
	if (!h)
		return false;
	*s = (struct dt_elf_section){.vaddr = h->sh.sh_addr,
				     .offset = h->sh.sh_offset,
				     .size = h->sh.sh_size,
				     .type = h->sh.sh_type};
	if (h->sh.sh_type == SHT_NOBITS || h->sh.sh_size == 0)
		return true;
	if (!h->asked) {
		h->asked = true;
		dt_put_string(&question, name);
		q.data = question.s;
		q.size = question.n;
		ask(e, dt_elf_serve_section, &q, &h->data, NULL);
		dt_buf_free(&question);
	}
	s->data = h->data.n ? h->data.s : NULL;
	s->data_size = h->data.n;
	return h->data.n != 0;
}

/* ---- static probes ---- */

void dt_elf_ask_probes(dt_elf *e)
{
	struct dt_question q = {0};
	dt_buf answer = {0};

	if (e->remote->probes_asked)
		return;
	e->remote->probes_asked = true;
	if (find_section(e, ".note.stapsdt") && ask(e, dt_elf_serve_probes, &q, &answer, NULL) &&
	    !dt_elf_take_probes(e, &answer))
		reject(e, &q, NULL);
	dt_buf_free(&answer);
}

bool dt_elf_take_probes(dt_elf *e, dt_buf *answer)
{
	dt_message m = dt_message_of(answer->s, answer->n);

	while (!m.bad && m.p < m.end) {
		dt_sdt s = {.pc = dt_get_u64(&m), .semaphore = 0};

		s.semaphore = dt_get_u64(&m);
		s.prov = dt_get_string(&m);
		s.name = dt_get_string(&m);
		s.args = dt_get_string(&m);
		m.bad = m.bad || !s.prov || !*s.prov || !s.name || !*s.name || !s.args;
		*dt_vec_add(&e->remote->notes, NULL) = s;
	}
	if (m.bad)
		dt_vec_free(&e->remote->notes);
	else
		keep(&e->remote->probes, answer);
	return !m.bad;
}

/* ---- .eh_frame ---- */

void dt_elf_ask_unwind(dt_elf *e, dt_unwind *u)
{
	struct dt_question q = {0};
	dt_buf answer = {0};

	*u = (dt_unwind){0};
	if (find_section(e, ".eh_frame") && ask(e, dt_elf_serve_unwind, &q, &answer, NULL) &&
	    !dt_elf_take_unwind(&answer, u))
		reject(e, &q, NULL);
	dt_buf_free(&answer);
}

/* The answer is the rows. */
bool dt_elf_take_unwind(dt_buf *answer, dt_unwind *u)
{
	dt_unwind_row *rows = (dt_unwind_row *)(void *)answer->s;
	uint32_t n = (uint32_t)(answer->n / sizeof(*rows));
	bool ok = answer->n % sizeof(*rows) == 0;

	*u = (dt_unwind){0};
	for (uint32_t i = 0; i < n && ok; i++)
		ok = DT_UW_KIND(rows[i].cfa) <= DT_UW_STOP &&
		     (i == 0 || rows[i].pc > rows[i - 1].pc);
	if (!ok || (n && DT_UW_KIND(rows[n - 1].cfa) != DT_UW_NONE))
		return false;
	if (n) {
		*u = (dt_unwind){.rows = rows, .n = n};
		*answer = (dt_buf){0};
	}
	return true;
}

bool dt_elf_take_ranges(dt_elf *e, dt_buf *answer)
{
	if (answer->n % (2 * sizeof(uint64_t)) != 0)
		return false;
	keep(&e->remote->ranges, answer);
	return true;
}

const uint64_t *dt_elf_ask_ranges(dt_elf *e, uint32_t *n)
{
	struct dt_elf_remote *r = e->remote;
	struct dt_question q = {0};
	dt_buf answer = {0};

	if (!r->ranges_asked) {
		r->ranges_asked = true;
		if (find_section(e, ".eh_frame") &&
		    ask(e, dt_elf_serve_ranges, &q, &answer, NULL) &&
		    !dt_elf_take_ranges(e, &answer))
			reject(e, &q, NULL);
		dt_buf_free(&answer);
	}
	*n = (uint32_t)(r->ranges.n / (2 * sizeof(uint64_t)));
	return (const uint64_t *)(const void *)r->ranges.s;
}

/* ---- memory ---- */

void dt_elf_remote_shrink(dt_elf *e)
{
	struct dt_elf_remote *r = e->remote;

	for (uint32_t i = 0; i < r->sections.n; i++) {
		free(r->sections.v[i].name);
		dt_buf_free(&r->sections.v[i].data);
	}
	dt_vec_free(&r->sections);
	dt_vec_free(&r->notes);
	dt_buf_free(&r->probes);
	dt_buf_free(&r->ranges);
}

void dt_elf_remote_free(dt_elf *e)
{
	if (!e->remote)
		return;
	dt_elf_remote_shrink(e);
	dt_buf_free(&e->remote->symbols);
	for (uint32_t i = 0; i < e->remote->names.n; i++)
		dt_buf_free(&e->remote->names.v[i]);
	dt_vec_free(&e->remote->names);
	if (e->remote->own_jail)
		dt_jail_free(e->remote->jail);
	free(e->remote);
	e->remote = NULL;
}
