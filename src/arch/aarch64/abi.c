/*
 * abi for aarch64: AAPCS64, "Parameter passing". Eight integer and eight vector registers. Objects of up to four equal
 * floating-point members are passed in vector registers, others of up to two words in integer registers, if all of it
 * fits; of larger ones the address of a copy is passed.
 */
#include "arch/aarch64/aarch64.h"
#include "base/base.h"

#define INT_REGS    8
#define VECTOR_REGS 8
#define EQUAL	    4
#define BY_VALUE    16

/* How many vector registers an object takes; 0: it is not passed in those. */
static uint32_t equal_floats(const struct dt_abi_value *v)
{
	uint64_t each = v->nfields ? v->field[0].size : 0, n = each ? v->size / each : 0;

	if (v->irregular || n == 0 || n > EQUAL || n * each != v->size)
		return 0;
	for (uint32_t i = 0; i < v->nfields; i++)
		if (!v->field[i].is_float || v->field[i].size != each || v->field[i].offset % each != 0)
			return 0;
	return (uint32_t)n;
}

/* The address of a copy. */
static void by_reference(struct dt_abi_used *used, struct dt_abi_place *to)
{
	to->how = DT_ABI_REFERENCE;
	if (used->ints < INT_REGS) {
		to->n = used->ints++;
	} else {
		to->n = INT_REGS + (uint32_t)(used->stack / 8);
		used->stack += 8;
	}
}

static void in_registers(const struct dt_abi_value *v, struct dt_abi_used *used, struct dt_abi_place *to)
{
	uint32_t ints = (uint32_t)(dt_align_up(v->size, 8) / 8);

	if (v->align > 8)
		used->ints = (uint32_t)dt_align_up(used->ints, 2);
	if (used->ints + ints > INT_REGS) {
		used->ints = INT_REGS; /* nothing after it goes back to registers */
		dt_abi_on_stack(v, used, to);
		return;
	}
	to->how = ints == 1 ? DT_ABI_ONE : DT_ABI_SEVERAL;
	to->n = used->ints;
	used->ints += ints;
}

static void pass_object(const struct dt_abi_value *v, struct dt_abi_used *used, struct dt_abi_place *to)
{
	uint32_t vectors = equal_floats(v);

	if (v->size == 0) {
		to->how = DT_ABI_NOTHING;
	} else if (vectors && used->vectors + vectors <= VECTOR_REGS) {
		to->how = DT_ABI_VECTOR;
		to->n = used->vectors;
		used->vectors += vectors;
	} else if (vectors) {
		used->vectors = VECTOR_REGS;
		dt_abi_on_stack(v, used, to);
	} else if (v->size > BY_VALUE) {
		by_reference(used, to);
	} else {
		in_registers(v, used, to);
	}
}

/* Its address is in x8, which is not among the arguments. */
static bool returns_in_memory(const struct dt_abi_value *v)
{
	return v->size > BY_VALUE && !equal_floats(v);
}

const struct dt_arch_abi dt_aarch64_abi = {
    .int_regs = INT_REGS,
    .vector_regs = VECTOR_REGS,
    .float_size = 16,
    .flat = EQUAL * 16,
    .pass_object = pass_object,
    .returns_in_memory = returns_in_memory,
};
