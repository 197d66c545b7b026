/*
 * operand for x86-64: the AT&T syntax.
 *
 *	%edi   $17   16(%rsp)   -8(%rax,%rbx,4)   NBuffers(%rip)   40+stats(%rip)   %xmm0
 */
#include <ctype.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/x86_64/x86_64.h"

static size_t word_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == '$')
		n++;
	return n;
}

/* "%rax" at *p; *p moves past it. DT_NO_REG: not a register that uregs[] has. */
static int parse_reg(const char **p, bool *high)
{
	size_t n = **p == '%' ? word_length(*p + 1) : 0;
	int reg = n ? dt_arch_operand(&dt_arch_x86_64, *p + 1, n, high) : DT_NO_REG;

	if (reg != DT_NO_REG)
		*p += 1 + n;
	return reg;
}

/* A sum of numbers and at most one variable name: "16", "-8", "NBuffers", "40+stats", "stats-4". */
static bool parse_displacement(const char **p, struct dt_operand *o)
{
	while (**p && **p != '(' && !isspace((unsigned char)**p)) {
		bool minus = **p == '-';
		uint64_t v = 0;

		*p += minus || **p == '+';
		if (isdigit((unsigned char)**p)) {
			char *after;

			v = strtoull(*p, &after, 0);
			*p = after;
		} else {
			size_t n = word_length(*p);

			if (n == 0 || o->symbol || minus)
				return false;
			o->symbol = *p;
			o->symbol_length = n;
			*p += n;
		}
		o->value = (int64_t)((uint64_t)o->value + (minus ? -v : v));
	}
	return true;
}

/* disp(base,index,scale), any part of it. Without a register, or with %rip, a name is an address of the file. */
static bool parse_memory(const char **p, struct dt_operand *o)
{
	bool ignored;

	o->kind = DT_OPERAND_MEMORY;
	if (!parse_displacement(p, o))
		return false;
	if (**p != '(')
		return true;
	++*p;
	o->base = parse_reg(p, &ignored);
	if (**p == ',') {
		++*p;
		o->index = parse_reg(p, &ignored);
		if (o->index == DT_NO_REG)
			return false;
		if (**p == ',') {
			char *after;

			o->scale = strtol(*p + 1, &after, 10);
			*p = after;
		}
	}
	if (**p != ')' || (o->base == DT_NO_REG && o->index == DT_NO_REG) || o->scale < 1 ||
	    o->scale > 8)
		return false;
	++*p;
	return true;
}

bool dt_x86_64_operand(const char **p, struct dt_operand *o)
{
	*o = (struct dt_operand){.base = DT_NO_REG, .index = DT_NO_REG, .scale = 1};
	if (**p == '$') {
		char *after;

		o->kind = DT_OPERAND_CONSTANT;
		o->value = strtoll(*p + 1, &after, 0);
		if (after == *p + 1)
			return false;
		*p = after;
		return true;
	}
	if (**p == '%') {
		o->base = parse_reg(p, &o->high);
		o->kind = o->base != DT_NO_REG ? DT_OPERAND_REGISTER : DT_OPERAND_OTHER;
		if (o->base == DT_NO_REG)
			*p += 1 + word_length(*p + 1);
		return true;
	}
	return parse_memory(p, o);
}
