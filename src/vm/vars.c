/*
 * vars: global and clause-local scalars, which have fixed storage; and the types of all user
 * variables, gathered from the variable tables of the DIFOs.
 *
 * A by-value variable is a 64-bit word. A by-reference one (string, struct, array) is an 8-byte
 * prefix, whose first byte says NULL when set, and then the object; assigning copies the object in,
 * reading gives its address or 0 for NULL. All storage starts as zero: numbers 0, strings empty. It
 * is not cleared between firings, so a clause-local keeps the value of the last firing.
 *
 * All objects of a scope are in one block, so that invalid stores can be detected: a store must stay inside
 * one object and outside the prefix.
 */
#include <stdlib.h>

#include "vm/machine.h"

#define PREFIX	   8
#define NO_STORAGE UINT64_MAX

static dt_vm_scope *scope_of(dt_vm *vm, const dt_difvar *v)
{
	switch (v->scope) {
	case DT_SCOPE_GLOBAL: return &vm->globals;
	case DT_SCOPE_THREAD: return &vm->threads;
	case DT_SCOPE_LOCAL: return &vm->locals;
	default: return NULL;
	}
}

static dt_vm_var *var_at(const dt_vm_scope *s, uint32_t id)
{
	return id >= DT_VAR_USER_MIN && id - DT_VAR_USER_MIN < s->n ? &s->v[id - DT_VAR_USER_MIN]
								    : NULL;
}

/* Call f for every user variable of every DIFO. */
static void each_var(dt_vm *vm, const struct dt_vm_config *c,
		     void (*f)(dt_vm *vm, dt_vm_scope *s, const dt_difvar *v))
{
	for (uint32_t i = 0; i < c->ndifos; i++)
		for (uint32_t j = 0; j < c->difos[i]->nvars; j++) {
			const dt_difvar *v = &c->difos[i]->vars[j];
			dt_vm_scope *s = scope_of(vm, v);

			if (s && v->id >= DT_VAR_USER_MIN && v->id <= DT_VAR_MAX)
				f(vm, s, v);
		}
}

static void count_var(dt_vm *vm __attribute__((unused)), dt_vm_scope *s, const dt_difvar *v)
{
	if (v->id - DT_VAR_USER_MIN >= s->n)
		s->n = v->id - DT_VAR_USER_MIN + 1;
}

static void type_var(dt_vm *vm, dt_vm_scope *s, const dt_difvar *v)
{
	dt_vm_var *x = var_at(s, v->id);
	uint32_t size = v->type.size;

	if (!(v->type.flags & (DT_TF_BYREF | DT_TF_BYUREF)))
		return;
	if (v->type.kind == DT_TYPE_STRING) /* as many characters, and the NUL */
		size = size == 0 || size >= vm->strsize ? (uint32_t)vm->strsize : size + 1;
	x->byref = true;
	x->user = v->type.flags & DT_TF_BYUREF;
	x->string = v->type.kind == DT_TYPE_STRING;
	x->array = x->array || v->kind == DT_VAR_ARRAY;
	if (size > x->size)
		x->size = size;
}

/* Give every by-reference scalar its offset; the values of arrays and self-> are dynamic. */
static bool place(dt_vm_scope *s)
{
	s->starts = dt_xcalloc((size_t)s->n + 1, sizeof(uint64_t));
	for (uint32_t i = 0; i < s->n; i++) {
		dt_vm_var *v = &s->v[i];

		v->offset = NO_STORAGE;
		if (!v->byref || v->array)
			continue;
		v->offset = s->statics_size;
		s->starts[s->nstarts++] = v->offset;
		s->statics_size += dt_align_up(PREFIX + (uint64_t)v->size, 8);
	}
	s->values = dt_vm_memory(s->n * sizeof(uint64_t));
	s->statics = dt_vm_memory(s->statics_size);
	return s->values && s->statics;
}

int dt_vm_vars_init(dt_vm *vm, const struct dt_vm_config *c)
{
	dt_vm_scope *scopes[] = {&vm->globals, &vm->threads, &vm->locals};

	each_var(vm, c, count_var);
	for (size_t i = 0; i < DT_NELEM(scopes); i++)
		if (scopes[i]->n)
			scopes[i]->v = dt_xcalloc(scopes[i]->n, sizeof(dt_vm_var));
	each_var(vm, c, type_var);
	return place(&vm->globals) && place(&vm->locals) ? 0 : -1;
}

void dt_vm_vars_fini(dt_vm *vm)
{
	dt_vm_scope *scopes[] = {&vm->globals, &vm->threads, &vm->locals};

	for (size_t i = 0; i < DT_NELEM(scopes); i++) {
		free(scopes[i]->v);
		free(scopes[i]->values);
		free(scopes[i]->statics);
		free(scopes[i]->starts);
	}
}

bool dt_vm_static_writable(const dt_vm_scope *s, uint64_t offset, uint64_t n)
{
	uint32_t lo = 0, hi = s->nstarts;
	uint64_t start, end;

	while (lo < hi) { /* the last object that begins at or below offset */
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->starts[mid] <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return false;
	start = s->starts[lo - 1] + PREFIX;
	end = lo < s->nstarts ? s->starts[lo] : s->statics_size;
	return offset >= start && offset <= end && n <= end - offset;
}

uint64_t dt_vm_var_load(const dt_vm_scope *s, uint32_t id)
{
	dt_vm_var *v = var_at(s, id);

	if (!v || v->array)
		return 0;
	if (!v->byref)
		return s->values[id - DT_VAR_USER_MIN];
	return s->statics[v->offset] ? 0 : dt_vm_addr(s->statics + v->offset + PREFIX);
}

void dt_vm_var_store(dt_vm *vm, dt_vm_scope *s, uint32_t id, uint64_t value)
{
	dt_vm_var *v = var_at(s, id);

	if (!v || v->array)
		return;
	if (!v->byref)
		s->values[id - DT_VAR_USER_MIN] = value;
	else if (value == 0)
		s->statics[v->offset] = 0xff;
	else if (dt_vm_copy(vm, value, s->statics + v->offset + PREFIX, v->size, v->string,
			    v->user))
		s->statics[v->offset] = 0;
}
