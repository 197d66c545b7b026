/*
 * elf_line: the source line of an instruction, from DWARF.
 *
 * libdw reads the line tables in the helper (jail/jail.h), one question for one place: the caller keeps the
 * answers. Objects that are not read by a helper have no lines.
 */
#include <elfutils/libdw.h>

#include "elf/elf_remote.h"

#define MAX_UNITS 100000 /* to look through, if the file has no index of addresses */

static bool find_unit(Dwarf *dw, uint64_t vaddr, Dwarf_Die *unit)
{
	Dwarf_Off at = 0, next;
	size_t head;

	if (dwarf_addrdie(dw, vaddr, unit))
		return true;
	for (uint32_t i = 0;
	     i < MAX_UNITS && dwarf_nextcu(dw, at, &next, &head, NULL, NULL, NULL) == 0; i++) {
		if (dwarf_offdie(dw, at + head, unit) && dwarf_haspc(unit, vaddr) > 0)
			return true;
		if (next <= at)
			break;
		at = next;
	}
	return false;
}

static void serve_line(struct dt_question *q, dt_buf *out)
{
	dt_message m = dt_message_of(q->data, q->size);
	uint64_t vaddr = dt_get_u64(&m);
	Dwarf *dw = dwarf_begin(q->fd[0], DWARF_C_READ);
	const char *file;
	Dwarf_Line *l;
	Dwarf_Die unit;
	int n = 0;

	if (!dw)
		return;
	if (find_unit(dw, vaddr, &unit) && (l = dwarf_getsrc_die(&unit, vaddr)) &&
	    dwarf_lineno(l, &n) == 0 && n > 0 && (file = dwarf_linesrc(l, NULL, NULL))) {
		dt_put_u32(out, (uint32_t)n);
		dt_put_string(out, file);
	}
	dwarf_end(dw);
}

bool dt_elf_line(dt_elf *e, uint64_t vaddr, dt_buf *file, unsigned *line)
{
	dt_elf *d = e->remote ? dt_elf_dwarf(e) : NULL;
	dt_buf question = {0}, answer = {0};
	struct dt_question q = {0};
	const char *name = NULL;
	dt_message m;

	if (!d || !d->remote || d->fd < 0)
		return false;
	dt_put_u64(&question, vaddr);
	q.data = question.s;
	q.size = question.n;
	if (dt_elf_ask(d, serve_line, &q, &answer) && answer.n) {
		m = dt_message_of(answer.s, answer.n);
		*line = dt_get_u32(&m);
		name = dt_get_string(&m);
		if (name)
			dt_buf_puts(file, name);
	}
	if (name)
		dt_make_safe(file->s, file->n, false);
	dt_buf_free(&question);
	dt_buf_free(&answer);
	return name;
}
