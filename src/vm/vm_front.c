/*
 * vm_front: runs the front's part of a clause with the data that its machine sent.
 *
 * The data become hidden clause-local variables. timestamp is the time of the firing, on this machine's clock; self-> variables
 * belong to the thread of that machine. this-> variables are zero when a firing begins, and keep their values for the
 * clauses of the same firing, which have the same machine, CPU and time.
 *
 * After exit() nothing runs but END.
 */
#include <stdlib.h>
#include <time.h>

#include "vm/machine.h"

struct dt_vm_ecb *dt_vm_front_add(dt_engine *engine, const dt_ecb *ecb, dt_error *err)
{
	dt_vm_engine *e = (dt_vm_engine *)engine;
	struct dt_vm_ecb *x = dt_xcalloc(1, sizeof(*x));

	x->ecb = ecb;
	x->probe = strcmp(ecb->probe->prov, "dtrace") != 0     ? DT_VM_OTHER
		   : strcmp(ecb->probe->name, "ERROR") == 0 ? DT_VM_ERROR
		   : strcmp(ecb->probe->name, "END") == 0   ? DT_VM_END
							    : DT_VM_OTHER;
	*dt_vec_add(&e->front, NULL) = x;
	if (dt_vm_plan_ecb(e, x, err) < 0 || dt_buffer_plan_check(&e->buffer, err) < 0)
		return NULL;
	if (e->principal.limit < e->buffer.size)
		e->principal.limit = e->buffer.size;
	return x;
}

static void clear_locals(dt_vm *vm)
{
	for (uint32_t i = 0; i < vm->locals.n; i++) {
		dt_vm_var *v = &vm->locals.v[i];

		vm->locals.values[i] = 0;
		if (v->byref && !v->array) /* "", and no NULL */
			memset(vm->locals.statics + v->offset, 0, 8 + (size_t)v->size);
	}
}

static uint64_t number(const dt_datum *d)
{
	uint64_t v = 0;

	if (d->data)
		memcpy(&v, d->data, d->size < 8 ? d->size : 8);
	return v;
}

/* A copy in scratch memory, as large as the variable, which the program may read. */
static uint64_t object(dt_vm *vm, const dt_vm_var *v, const dt_datum *d)
{
	uint8_t *p = dt_vm_alloc(vm, v->size);

	if (!p)
		return 0;
	if (d->data)
		memcpy(p, d->data, d->size < v->size ? d->size : v->size);
	if (v->string)
		p[v->size - 1] = 0;
	return dt_vm_addr(p);
}

static void take_data(dt_vm *vm, const struct dt_vm_arrival *a)
{
	for (uint32_t i = 0; i < a->from->nactions; i++) {
		uint32_t id = a->from->rest->vars[i];
		const dt_vm_var *v;

		if (id < DT_VAR_USER_MIN || id - DT_VAR_USER_MIN >= vm->locals.n)
			continue;
		v = &vm->locals.v[id - DT_VAR_USER_MIN];
		dt_vm_var_store(vm, &vm->locals, id, v->byref ? object(vm, v, &a->values[i]) : number(&a->values[i]));
	}
}

static uint64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* 47 bits (dynvar.c): the machine, then 0 and a thread of Linux or 1 and a CPU, as the idle threads of all CPUs have the same number. */
#define TID_BITS 22
#define TID_MASK ((1u << TID_BITS) - 1)

static uint64_t thread_of(const struct dt_vm_arrival *a)
{
	uint64_t tid = number(&a->values[0]) & TID_MASK;

	return (uint64_t)a->machine << (TID_BITS + 1) | (tid ? tid : 1u << TID_BITS | (a->cpu & TID_MASK));
}

void dt_vm_front_run(dt_engine *engine, struct dt_vm_ecb *x, const struct dt_vm_arrival *a)
{
	dt_vm_engine *e = (dt_vm_engine *)engine;
	dt_vm_firing *f = &e->firing[x->probe == DT_VM_ERROR], *outer = e->vm.fire;
	struct dt_vm_place here = {a->machine, a->cpu, a->time};

	if (e->exiting && x->probe != DT_VM_END)
		return;
	e->ending = x->probe == DT_VM_END;
	dt_vm_firing_begin(f, x->ecb->probe, a->cpu);
	f->epid = x->ecb->epid;
	f->thread = thread_of(a);
	f->given = a->values;
	f->timestamp = a->time;
	f->walltimestamp = clock_now(CLOCK_REALTIME) - (clock_now(CLOCK_MONOTONIC) - a->time);
	e->vm.fire = f;
	e->vm.texts_valid = 0;
	e->vm.given = 0;
	dt_vm_scratch_reset(&e->vm);
	dt_vm_scratch_limit(&e->vm, e->vm.scratch_cap);
	if (memcmp(&here, &e->last, sizeof(here)) != 0)
		clear_locals(&e->vm);
	e->last = here;
	e->vm.faulted = false;
	take_data(&e->vm, a);
	dt_vm_agg_payer(e->aggs, a->payer);
	if (dt_vm_do_ecb(e, x) == DT_VM_FAULTED)
		dt_vm_report_fault(e, x);
	dt_vm_agg_payer(e->aggs, NULL);
	e->vm.fire = outer;
	e->vm.texts_valid = 0;
}
