/*
 * machine: creates one, and runs a single DIFO in it.
 */
#include <stdlib.h>

#include "vm/machine.h"

int dt_vm_init(dt_vm *vm, const struct dt_vm_config *c, dt_error *err)
{
	memset(vm, 0, sizeof(*vm));
	vm->strsize = c->strsize < UINT32_MAX ? c->strsize + 1 : c->strsize;
	vm->scratch_cap = c->scratch;
	vm->given_max = c->given_max;
	vm->scratch = dt_vm_memory(c->scratch);
	for (uint32_t i = 0; i < c->ndifos; i++)
		dt_vm_add_region(vm, c->difos[i]->strtab, c->difos[i]->strlen);
	dt_vm_sort_regions(vm);
	if (!vm->scratch || dt_vm_vars_init(vm, c) < 0 || dt_vm_dyn_init(vm, c) < 0 ||
	    dt_vm_builtin_init(vm) < 0)
		return dt_err(err, EDT_NOMEM, NULL);
	dt_vm_scratch_reset(vm);
	return 0;
}

void dt_vm_fini(dt_vm *vm)
{
	dt_vm_vars_fini(vm);
	dt_vm_dyn_fini(vm);
	dt_vec_free(&vm->regions);
	free(vm->texts);
	free(vm->scratch);
}

bool dt_vm_firing_init(const dt_vm *vm, dt_vm_firing *f)
{
	*f = (dt_vm_firing){.strtok = dt_vm_memory(vm->strsize)};
	return f->strtok != NULL;
}

void dt_vm_firing_begin(dt_vm_firing *f, const dt_probe *probe, uint32_t cpu)
{
	*f = (dt_vm_firing){.probe = probe, .cpu = cpu, .strtok = f->strtok};
}

#define EVAL_SPACE (64 * 1024)

uint64_t dt_vm_eval(const dt_difo *d, size_t strsize, dt_fault *fault)
{
	struct dt_vm_config c = {.strsize = strsize,
				 .scratch = EVAL_SPACE,
				 .dynvarsize = EVAL_SPACE,
				 .difos = &d,
				 .ndifos = 1};
	dt_vm_firing f = {0};
	uint64_t value = 0;
	dt_error err;
	dt_vm vm;

	*fault = (dt_fault){.offset = -2};
	if (dt_vm_init(&vm, &c, &err) < 0 || !dt_vm_firing_init(&vm, &f)) {
		*fault = (dt_fault){.offset = -1, .code = DT_FLT_NOSCRATCH};
	} else {
		vm.fire = &f;
		value = dt_vm_run(&vm, d);
		if (vm.faulted)
			*fault = vm.fault;
	}
	free(f.strtok);
	dt_vm_fini(&vm);
	return value;
}
