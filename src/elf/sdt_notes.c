/*
 * sdt_notes: the notes of static probes, and where their arguments are.
 *
 * A note's description is three addresses and three strings:
 *
 *	pc | base | semaphore | "provider" | "name" | "arguments"
 *
 * `base` is the address that section .stapsdt.base had when the note was written; if the section is
 * elsewhere now (prelink), all addresses have moved by the same distance. Arguments are what the
 * compiler put into the operands of an asm statement, each with its size (negative: signed, "f":
 * floating point):
 *
 *	size@operand size@operand ...
 *
 * The syntax of operands depends on the CPU (arch/operand.h). Each becomes a D expression, so that
 * the engine does not depend on them: the registers are those of uregs[], memory is read through a
 * userland pointer. Any text may be given; invalid text is refused.
 */
#include <ctype.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/operand.h"
#include "elf/elf_remote.h"

/* ---- notes ---- */

static uint64_t word(const void *p, bool is_64)
{
	uint64_t v8;
	uint32_t v4;

	if (is_64) {
		memcpy(&v8, p, 8);
		return v8;
	}
	memcpy(&v4, p, 4);
	return v4;
}

/* The string at *p, which must end before `end`; *p moves past it. */
static const char *string(const char **p, const char *end)
{
	const char *s = *p, *nul = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;

	if (nul)
		*p = nul + 1;
	return nul ? s : NULL;
}

static bool read_note(dt_elf *e, const struct dt_elf_note *n, dt_sdt *s)
{
	size_t w = dt_elf_is_64(e) ? 8 : 4;
	const char *p = n->desc, *end = p + n->size;
	uint64_t base, moved = 0;

	if (n->size < 3 * w)
		return false;
	if (dt_elf_sdt_base(e, &base))
		moved = base - word(p + w, w == 8);
	s->pc = word(p, w == 8) + moved;
	s->semaphore = word(p + 2 * w, w == 8);
	if (s->semaphore)
		s->semaphore += moved;
	p += 3 * w;
	s->prov = string(&p, end);
	s->name = string(&p, end);
	s->args = string(&p, end);
	return s->prov && s->name && s->args && *s->prov && *s->name;
}

bool dt_sdt_next(dt_elf *e, size_t *it, dt_sdt *s)
{
	struct dt_elf_note n;

	if (e->remote) {
		dt_elf_ask_probes(e);
		if (*it >= e->remote->notes.n)
			return false;
		*s = e->remote->notes.v[(*it)++];
		return true;
	}
	while (dt_elf_next_sdt(e, it, &n))
		if (read_note(e, &n, s))
			return true;
	return false;
}

/* ---- arguments ---- */

/* The address of a variable or a function of the object; false: it has none of that name. */
static bool find_symbol(dt_elf *e, const char *name, size_t n, uint64_t *vaddr)
{
	char *copy = strndup(name, n);
	const dt_elfsym *sym = copy ? dt_elf_data_named(e, copy) : NULL;

	if (copy && !sym)
		sym = dt_elf_function_named(e, copy);
	free(copy);
	if (sym)
		*vaddr = sym->vaddr;
	return sym != NULL;
}

/*
 * An address in memory as D text. A name is an address of the file: the probe's own pc is in uregs[R_PC] and in the note,
 * so the distance of the two is where the object was loaded.
 */
static bool put_address(const struct dt_operand *o, dt_elf *e, const dt_sdt *s, dt_buf *out)
{
	uint64_t disp = (uint64_t)o->value, vaddr = 0;
	int pc = dt_arch_host()->pc, base = o->base;

	if (o->symbol) {
		if (!find_symbol(e, o->symbol, o->symbol_length, &vaddr) ||
		    (base != DT_NO_REG && base != pc && !o->symbol_low))
			return false;
		disp += o->symbol_low ? vaddr & 0xfff : vaddr - s->pc;
		base = o->symbol_low ? base : pc;
	}
	if (base != DT_NO_REG)
		dt_buf_printf(out, "uregs[%d] + ", base);
	if (o->index != DT_NO_REG)
		dt_buf_printf(out, o->index_type ? "(%s)uregs[%d] * %ld + " : "%suregs[%d] * %ld + ",
			      o->index_type ? o->index_type : "", o->index, o->scale);
	dt_buf_printf(out, "(uint64_t)%lld", (long long)disp);
	return true;
}

static const char *type_name(long size)
{
	switch (size) {
	case 1: return "uint8_t";
	case 2: return "uint16_t";
	case 4: return "uint32_t";
	case 8: return "uint64_t";
	case -1: return "int8_t";
	case -2: return "int16_t";
	case -4: return "int32_t";
	case -8: return "int64_t";
	}
	return NULL;
}

/* One operand at *p, of this type, as D text in *out. An empty text: something that uregs[] does
 * not have. */
static bool put_operand(const char **p, dt_elf *e, const dt_sdt *s, const char *type, dt_buf *out)
{
	struct dt_operand o;

	if (!dt_arch_host()->operand(p, &o))
		return false;
	switch (o.kind) {
	case DT_OPERAND_CONSTANT: dt_buf_printf(out, "(%s)%lld", type, (long long)o.value); break;
	case DT_OPERAND_REGISTER:
		dt_buf_printf(out, "(%s)(uregs[%d]%s)", type, o.base, o.high ? " >> 8" : "");
		break;
	case DT_OPERAND_MEMORY:
		dt_buf_printf(out, "*(userland %s *)(", type);
		if (!put_address(&o, e, s, out))
			return false;
		dt_buf_puts(out, ")");
		break;
	case DT_OPERAND_OTHER: break;
	}
	return true;
}

int dt_sdt_args(dt_arena *a, dt_elf *e, const dt_sdt *s, dt_sdt_arg *args, int max)
{
	const char *p = s->args;
	int n = 0;

	for (; n < max; n++) {
		dt_buf text = {0};
		long size = 0;
		char *after;
		bool fine, is_float;

		p += strspn(p, " \t");
		if (!*p)
			break;
		size = strtol(p, &after, 10);
		is_float = *after == 'f';
		after += is_float;
		args[n].type = type_name(size);
		if (after == p || *after != '@' || !args[n].type)
			return -1;
		p = after + 1;
		fine = put_operand(&p, e, s, args[n].type, &text) &&
		       (!*p || isspace((unsigned char)*p));
		args[n].text = text.n && !is_float ? dt_arena_strdup(a, text.s) : NULL;
		dt_buf_free(&text);
		if (!fine)
			return -1;
	}
	return n;
}
