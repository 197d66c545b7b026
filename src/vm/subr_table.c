/*
 * subr_table: calling a subroutine.
 *
 * The table is builtins.def itself: every row there needs a function dt_vm_subr_<symbol>, or the library does not link.
 */
#include "vm/machine.h"

static uint64_t (*const table[DT_SUBR_MAX_])(dt_vm *vm, const dt_vm_arg *arg, uint32_t argc) = {
#define DT_SUBR(sym, num, proto, ver, cls, help) [num] = dt_vm_subr_##sym,
#include "dif/builtins.def"
#undef DT_SUBR
};

uint64_t dt_vm_call(dt_vm *vm, uint32_t subr, const dt_vm_arg *arg, uint32_t argc)
{
	if (subr >= DT_SUBR_MAX_ || !table[subr])
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	return table[subr](vm, arg, argc);
}
