/*
 * operand: an argument of a static probe, as the assembler of the CPU writes operands.
 */
#ifndef DT_ARCH_OPERAND_H
#define DT_ARCH_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dt_operand {
	enum {
		DT_OPERAND_CONSTANT, /* value */
		DT_OPERAND_REGISTER, /* base */
		DT_OPERAND_MEMORY,   /* *(base + (index_type)index * scale + value + the symbol's address) */
		DT_OPERAND_OTHER,    /* something that uregs[] does not have: a vector register */
	} kind;
	int64_t value;
	int base, index; /* in uregs[]; DT_NO_REG: none */
	bool high;	 /* REGISTER: only its bits 8 to 15 */
	const char *index_type; /* only so many bits of the index; NULL: all */
	long scale;
	const char *symbol; /* in the text; NULL: none */
	size_t symbol_length;
	bool symbol_low; /* only the low 12 bits of its address: the base has the others */
};

#endif
