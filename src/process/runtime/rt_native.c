/*
 * rt_native: what machine code made of clauses (pe_native.c) calls: helpers.def.
 */
#include "dif/quantize.h"
#include "process/runtime/runtime.h"

/* A DIFO ends in a fault; the clause returns the action. */
void dt_rt_n_fault(struct dt_pe_slot *s, uint32_t code, int32_t offset)
{
	s->e.vm.faulted = true;
	s->e.vm.fault = (dt_fault){.offset = offset, .code = code};
}

uint64_t dt_rt_n_timestamp(struct dt_pe_slot *s)
{
	return dt_vm_builtin(&s->e.vm, DT_VAR_TIMESTAMP);
}

void dt_rt_n_quantize(uint64_t *words, int64_t value)
{
	words[dt_quantize_bucket(value)]++;
}

void dt_rt_n_value(uint64_t *words, const dt_agg *agg, int64_t value)
{
	dt_vm_value_add(agg, words, agg->nwords, value, 1);
}
