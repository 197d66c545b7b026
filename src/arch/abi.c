/*
 * abi: see abi.h. Numbers are passed alike everywhere: in registers as long as there are any, then on the stack. How
 * objects are passed is in the folder of the CPU.
 */
#include "arch/abi.h"
#include "base/base.h"

void dt_abi_on_stack(const struct dt_abi_value *v, struct dt_abi_used *used, struct dt_abi_place *to)
{
	used->stack = dt_align_up(used->stack, v->align > 8 ? 16 : 8);
	to->how = v->kind == DT_ABI_OBJECT || v->size > 8 ? DT_ABI_MEMORY : DT_ABI_SLOT;
	to->n = (uint32_t)(used->stack / 8);
	used->stack += dt_align_up(v->size, 8);
}

void dt_abi_pass(const struct dt_arch_abi *abi, const struct dt_abi_value *v, struct dt_abi_used *used,
		 struct dt_abi_place *to)
{
	if (v->kind == DT_ABI_OBJECT) {
		abi->pass_object(v, used, to);
	} else if (v->kind == DT_ABI_FLOAT && v->size <= abi->float_size && used->vectors < abi->vector_regs) {
		to->how = DT_ABI_VECTOR;
		to->n = used->vectors++;
	} else if (v->kind == DT_ABI_INTEGER && used->ints < abi->int_regs) {
		to->how = DT_ABI_REGISTER;
		to->n = used->ints++;
	} else {
		dt_abi_on_stack(v, used, to);
	}
}
