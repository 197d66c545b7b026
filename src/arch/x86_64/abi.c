/*
 * abi for x86-64: the System V ABI, section 3.2.3. Six integer and eight vector registers; an object of up to two
 * words is passed in registers, if all of it fits, each word by what is in it.
 */
#include "arch/x86_64/x86_64.h"
#include "base/base.h"

#define INT_REGS    6
#define VECTOR_REGS 8
#define WORDS	    2

/* What a word of an object is: CLASS_MEMORY if that is true of the whole. */
enum abi_class { CLASS_NONE, CLASS_INTEGER, CLASS_VECTOR, CLASS_MEMORY };

static void merge(enum abi_class *c, enum abi_class with)
{
	if (*c == CLASS_NONE || with == CLASS_MEMORY ||
	    (*c == CLASS_VECTOR && with == CLASS_INTEGER))
		*c = with;
}

static bool in_memory(const struct dt_abi_value *v, enum abi_class c[WORDS])
{
	c[0] = c[1] = CLASS_NONE;
	if (v->size > WORDS * 8 || v->irregular)
		return true;
	for (uint32_t i = 0; i < v->nfields; i++) {
		const struct dt_abi_field *f = &v->field[i];
		bool large = f->size > 8;

		if (f->offset + f->size > WORDS * 8)
			return true;
		merge(&c[f->offset / 8], !f->is_float ? CLASS_INTEGER
					 : large      ? CLASS_MEMORY
						      : CLASS_VECTOR);
		if (large)
			merge(&c[1], CLASS_INTEGER);
	}
	return c[0] == CLASS_MEMORY || c[1] == CLASS_MEMORY;
}

static void pass_object(const struct dt_abi_value *v, struct dt_abi_used *used,
			struct dt_abi_place *to)
{
	uint32_t ints = 0, vectors = 0;
	enum abi_class c[WORDS];

	if (in_memory(v, c)) {
		dt_abi_on_stack(v, used, to);
		return;
	}
	for (int i = 0; i < WORDS; i++) {
		ints += c[i] == CLASS_INTEGER;
		vectors += c[i] == CLASS_VECTOR;
	}
	if (used->ints + ints > INT_REGS || used->vectors + vectors > VECTOR_REGS) {
		dt_abi_on_stack(v, used, to);
		return;
	}
	to->how = ints + vectors == 0	      ? DT_ABI_NOTHING
		  : ints == 0		      ? DT_ABI_VECTOR
		  : ints == 1 && vectors == 0 ? DT_ABI_ONE
					      : DT_ABI_SEVERAL;
	to->n = used->ints;
	used->ints += ints;
	used->vectors += vectors;
}

static bool returns_in_memory(const struct dt_abi_value *v)
{
	enum abi_class c[WORDS];

	return in_memory(v, c);
}

const struct dt_arch_abi dt_x86_64_abi = {
    .int_regs = INT_REGS,
    .vector_regs = VECTOR_REGS,
    .float_size = 8,
    .flat = WORDS * 8,
    .pass_object = pass_object,
    .returns_in_memory = returns_in_memory,
    .hidden_argument = true,
    .returns_address = true,
};
