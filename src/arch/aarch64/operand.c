/*
 * operand for aarch64:
 *
 *	w3   17   [sp, 16]   [x0]   [x0, x1, lsl 3]   [x0, w1, sxtw 2]   [x0, #:lo12:stats+4]   stats   d0
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "arch/aarch64/aarch64.h"
#include "arch/arch.h"

static size_t word_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == '$')
		n++;
	return n;
}

static void skip_blanks(const char **p)
{
	*p += strspn(*p, " \t");
}

/* A register at *p, which moves past it; DT_NO_REG: not one that uregs[] has. */
static int parse_reg(const char **p)
{
	size_t n = word_length(*p);
	bool ignored;
	int reg = n ? dt_arch_operand(&dt_arch_aarch64, *p, n, &ignored) : DT_NO_REG;

	if (reg != DT_NO_REG)
		*p += n;
	return reg;
}

static bool parse_number(const char **p, int64_t *value)
{
	const char *from = *p + (**p == '#');
	char *after;
	int64_t n = strtoll(from, &after, 0);

	if (after == from)
		return false;
	*value = (int64_t)((uint64_t)*value + (uint64_t)n);
	*p = after;
	return true;
}

/* A name, perhaps with a number added: "stats", "stats+40" */
static bool parse_symbol(const char **p, struct dt_operand *o)
{
	size_t n = word_length(*p);

	if (n == 0 || isdigit((unsigned char)**p))
		return false;
	o->symbol = *p;
	o->symbol_length = n;
	*p += n;
	return (**p != '+' && **p != '-') || parse_number(p, &o->value);
}

/* "lsl 3", "sxtw 2", "uxtw": what becomes of the index */
static bool parse_shift(const char **p, struct dt_operand *o)
{
	static const struct {
		const char *name, *cast;
	} kinds[] = {{"lsl", NULL}, {"sxtx", NULL}, {"sxtw", "int32_t"}, {"uxtw", "uint32_t"}};
	int64_t shift = 0;

	for (size_t i = 0; i < DT_NELEM(kinds); i++) {
		size_t n = strlen(kinds[i].name);

		if (strncmp(*p, kinds[i].name, n) != 0)
			continue;
		*p += n;
		skip_blanks(p);
		if (**p != ']' && (!parse_number(p, &shift) || shift < 0 || shift > 4))
			return false;
		o->index_type = kinds[i].cast;
		o->scale = 1 << shift;
		return true;
	}
	return false;
}

/* After the base and a comma. */
static bool parse_offset(const char **p, struct dt_operand *o)
{
	const char *from = *p + (**p == '#');

	if (strncmp(from, ":lo12:", 6) == 0) {
		*p = from + 6;
		o->symbol_low = true;
		return parse_symbol(p, o);
	}
	if (**p == '#' || **p == '-' || isdigit((unsigned char)**p))
		return parse_number(p, &o->value);
	o->index = parse_reg(p);
	if (o->index == DT_NO_REG)
		return false;
	skip_blanks(p);
	if (**p != ',')
		return true;
	++*p;
	skip_blanks(p);
	return parse_shift(p, o);
}

/* [base], [base, offset] */
static bool parse_memory(const char **p, struct dt_operand *o)
{
	o->kind = DT_OPERAND_MEMORY;
	++*p;
	o->base = parse_reg(p);
	if (o->base == DT_NO_REG)
		return false;
	skip_blanks(p);
	if (**p == ',') {
		++*p;
		skip_blanks(p);
		if (!parse_offset(p, o))
			return false;
	}
	if (**p != ']')
		return false;
	++*p;
	return true;
}

static bool is_name(const char *p, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(p, name, n) == 0;
}

/* d0, s3, v1.4s, q2 */
static bool is_vector(const char *p, size_t n)
{
	return n >= 2 && strchr("bhsdqv", p[0]) && isdigit((unsigned char)p[1]) && (n == 2 || isdigit((unsigned char)p[2]) || p[2] == '.');
}

bool dt_aarch64_operand(const char **p, struct dt_operand *o)
{
	size_t n = word_length(*p);

	*o = (struct dt_operand){.base = DT_NO_REG, .index = DT_NO_REG, .scale = 1};
	if (**p == '[')
		return parse_memory(p, o);
	if (**p == '#' || **p == '-' || isdigit((unsigned char)**p) || is_name(*p, n, "xzr") || is_name(*p, n, "wzr")) {
		o->kind = DT_OPERAND_CONSTANT;
		if (n == 3 && (*p)[1] == 'z') {
			*p += n;
			return true;
		}
		return parse_number(p, &o->value);
	}
	o->base = parse_reg(p);
	if (o->base != DT_NO_REG) {
		o->kind = DT_OPERAND_REGISTER;
		return true;
	}
	if (is_vector(*p, n)) {
		o->kind = DT_OPERAND_OTHER;
		*p += n;
		return true;
	}
	o->kind = DT_OPERAND_MEMORY;
	return parse_symbol(p, o);
}
