/*
 * sdt_notes: the notes of static probes, and where their arguments are.
 *
 * A note's description is three addresses and three strings:
 *
 *	pc | base | semaphore | "provider" | "name" | "arguments"
 *
 * `base` is the address that section .stapsdt.base had when the note was written; if the section is somewhere else
 * now (prelink), all addresses have moved by as much. Arguments are what the compiler put into the operands of an asm statement, each with
 * its size (negative: signed, "f": floating point):
 *
 *	-4@%edi	  8@$17   4@16(%rsp)   1@%dil   8@-8(%rax,%rbx,4)   -4@NBuffers(%rip)   -4@40+stats(%rip)
 *
 * From each we make a D expression, so that the engine needs to know nothing of them: the registers are those
 * of uregs[], memory is read through a userland pointer. Any text may be given; what makes no sense is refused.
 */
#include <ctype.h>
#include <stdlib.h>

#include "elf/sdt_notes.h"

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

/* The string at *p, which must end before `end`; *p moves behind it. */
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

	while (dt_elf_next_sdt(e, it, &n))
		if (read_note(e, &n, s))
			return true;
	return false;
}

/* ---- arguments ---- */

/* Places of the registers in uregs[] (lib/regs.d), under all their names. `high`: bits 8 to 15. */
static const struct reg {
	const char *names[5];
	int index;
	bool high;
} regs[] = {
    {{"rax", "eax", "ax", "al"}, 10, false},
    {{"rbx", "ebx", "bx", "bl"}, 5, false},
    {{"rcx", "ecx", "cx", "cl"}, 11, false},
    {{"rdx", "edx", "dx", "dl"}, 12, false},
    {{"rsi", "esi", "si", "sil"}, 13, false},
    {{"rdi", "edi", "di", "dil"}, 14, false},
    {{"rbp", "ebp", "bp", "bpl"}, 4, false},
    {{"rsp", "esp", "sp", "spl"}, 19, false},
    {{"r8", "r8d", "r8w", "r8b"}, 9, false},
    {{"r9", "r9d", "r9w", "r9b"}, 8, false},
    {{"r10", "r10d", "r10w", "r10b"}, 7, false},
    {{"r11", "r11d", "r11w", "r11b"}, 6, false},
    {{"r12", "r12d", "r12w", "r12b"}, 3, false},
    {{"r13", "r13d", "r13w", "r13b"}, 2, false},
    {{"r14", "r14d", "r14w", "r14b"}, 1, false},
    {{"r15", "r15d", "r15w", "r15b"}, 0, false},
    {{"rip", "eip", "ip"}, 16, false},
    {{"ah"}, 10, true},
    {{"bh"}, 5, true},
    {{"ch"}, 11, true},
    {{"dh"}, 12, true},
};

static size_t word_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == '$')
		n++;
	return n;
}

/* "%rax" at *p; *p moves behind it. NULL: no register that uregs[] has. */
static const struct reg *parse_reg(const char **p)
{
	size_t n;

	if (**p != '%')
		return NULL;
	n = word_length(*p + 1);
	for (size_t i = 0; i < DT_NELEM(regs); i++)
		for (size_t k = 0; k < DT_NELEM(regs[i].names) && regs[i].names[k]; k++)
			if (strlen(regs[i].names[k]) == n &&
			    strncmp(regs[i].names[k], *p + 1, n) == 0) {
				*p += 1 + n;
				return &regs[i];
			}
	return NULL;
}

/* Numbers and names of variables, added up: "16", "-8", "NBuffers", "40+stats", "stats-4". */
static bool parse_displacement(const char **p, dt_elf *e, int64_t *sum, bool *symbolic)
{
	*sum = 0;
	*symbolic = false;
	while (**p && **p != '(' && !isspace((unsigned char)**p)) {
		bool minus = **p == '-';
		char *after, *name;
		const dt_elfsym *sym;
		int64_t v;
		size_t n;

		*p += minus || **p == '+';
		if (isdigit((unsigned char)**p)) {
			v = (int64_t)strtoull(*p, &after, 0);
			*p = after;
		} else {
			n = word_length(*p);
			name = n ? strndup(*p, n) : NULL;
			sym = name ? dt_elf_data_named(e, name) : NULL;
			if (name && !sym)
				sym = dt_elf_function_named(e, name);
			free(name);
			if (!sym || *symbolic || minus)
				return false;
			v = (int64_t)sym->vaddr;
			*symbolic = true;
			*p += n;
		}
		*sum = (int64_t)((uint64_t)*sum + (minus ? -(uint64_t)v : (uint64_t)v));
	}
	return true;
}

/*
 * disp(base,index,scale), any part of it. Without a register, or with %rip, a name is an address of the file: the probe's own pc is in
 * uregs[R_RIP] and in the note, so the distance of the two is where the object was loaded.
 */
static bool parse_memory(const char **p, dt_elf *e, const dt_sdt *s, dt_buf *out)
{
	const struct reg *base = NULL, *index = NULL;
	int64_t disp;
	bool symbolic;
	long scale = 1;

	if (!parse_displacement(p, e, &disp, &symbolic))
		return false;
	if (**p == '(') {
		++*p;
		base = parse_reg(p);
		if (**p == ',') {
			++*p;
			index = parse_reg(p);
			if (!index)
				return false;
			if (**p == ',') {
				char *after;

				scale = strtol(*p + 1, &after, 10);
				*p = after;
			}
		}
		if (**p != ')' || (!base && !index) || scale < 1 || scale > 8)
			return false;
		++*p;
	}
	if (symbolic) {
		disp = (int64_t)((uint64_t)disp - s->pc);
		if (base && base->index != 16)
			return false;
		base = parse_reg(&(const char *){"%rip"});
	}
	if (base)
		dt_buf_printf(out, "uregs[%d] + ", base->index);
	if (index)
		dt_buf_printf(out, "uregs[%d] * %ld + ", index->index, scale);
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

/* One operand at *p, of this type, as D text in *out. An empty text: it is something that uregs[] does not have. */
static bool parse_operand(const char **p, dt_elf *e, const dt_sdt *s, const char *type, dt_buf *out)
{
	const struct reg *r;
	char *after;

	if (**p == '$') {
		long long v = strtoll(*p + 1, &after, 0);

		if (after == *p + 1)
			return false;
		*p = after;
		dt_buf_printf(out, "(%s)%lld", type, v);
		return true;
	}
	if (**p == '%') {
		r = parse_reg(p);
		if (r)
			dt_buf_printf(out, "(%s)(uregs[%d]%s)", type, r->index,
				      r->high ? " >> 8" : "");
		else
			*p += 1 + word_length(*p + 1);
		return true;
	}
	dt_buf_printf(out, "*(userland %s *)(", type);
	if (!parse_memory(p, e, s, out))
		return false;
	dt_buf_puts(out, ")");
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
		fine = parse_operand(&p, e, s, args[n].type, &text) &&
		       (!*p || isspace((unsigned char)*p));
		args[n].text = text.n && !is_float ? dt_arena_strdup(a, text.s) : NULL;
		dt_buf_free(&text);
		if (!fine)
			return -1;
	}
	return n;
}
