/*
 * vm_ecb: runs a clause: its predicate, then its actions from block to block (dif/graph.c).
 *
 * A clause without control flow is one block. Space for its record is checked first (none: the whole
 * clause is skipped, and a drop counted), and the record is added at its end. In other clauses each
 * block that records something adds its part when it ends; a part without space is a drop.
 *
 * A loop counts its rounds in the whole firing, so nested loops cannot multiply; so do functions. Strings of the
 * previous round are forgotten, unless alloca() or copyin() have given memory to the clause, to
 * which it may have pointers.
 */
#include <stdlib.h>

#include "vm/machine.h"

struct run {
	dt_vm_engine *e;
	const struct dt_vm_ecb *x;
	uint32_t part;	 /* the block at hand */
	dt_vm_rec *rec;	 /* its data; NULL: it records nothing */
	dt_vm_buf *spec; /* of speculate(); NULL: none */
	bool added;	 /* some part is in a buffer */
	bool dropped;	 /* there is no space for the record of a plain clause that ends tracing */
	uint64_t scratch; /* used when the clause began */
	uint64_t calls;	 /* of functions */
};

static const dt_record_part *part_of(const struct run *r)
{
	return &r->x->record.parts[r->part];
}

static void begin_part(struct run *r, uint32_t part)
{
	const dt_record_part *p = &r->x->record.parts[part];

	r->part = part;
	if (p->cost)
		r->rec = dt_vm_new_record(r->e, r->x, p->cost, p->data_size);
}

static void drop_part(struct run *r)
{
	free(r->rec);
	r->rec = NULL;
}

static void end_part(struct run *r)
{
	const dt_record_part *p = part_of(r);
	bool plain = !r->x->record.has_control;
	dt_vm_buf *into = p->speculates && r->spec ? r->spec : &r->e->principal;

	if (!r->rec)
		return;
	if (r->dropped)
		drop_part(r);
	else if (r->spec == into && !dt_vm_buf_fits(into, p->cost, 0)) {
		dt_vm_spec_drop(r->e->vm.specs);
		drop_part(r);
	} else if (r->spec != into && !plain && !dt_vm_has_room(r->e, r->x, p->cost)) {
		drop_part(r);
	} else {
		r->rec->part = r->part;
		r->rec->continues = r->added;
		r->added = true;
		dt_vm_buf_add(into, r->rec);
		r->rec = NULL;
	}
}

/* ---- where the clause continues ---- */

/* True: one more round, or call. */
static bool may_go_back(struct run *r, uint64_t *times, uint64_t most)
{
	if (++*times >= most)
		return dt_vm_fault(&r->e->vm, DT_FLT_LOOPMAX, 0);
	if (!r->e->vm.gave)
		r->e->vm.scratch_used = r->scratch;
	return true;
}

/* From here on records belong to the speculation; an invalid number is not a fault. Without it the
 * clause continues after the statements that belong to it. */
static uint32_t speculate(struct run *r, uint32_t i, uint64_t id)
{
	const dt_clause *c = r->x->ecb->clause;
	bool bad;

	r->spec = dt_vm_spec_use(r->e->vm.specs, id, &bad);
	if (r->spec &&
	    (r->x->record.has_control || dt_vm_buf_fits(r->spec, part_of(r)->cost, 0)))
		return i + 1;
	if (r->spec)
		dt_vm_spec_drop(r->e->vm.specs);
	drop_part(r);
	return c->actions[i].arg ? dt_control_target(&c->actions[i]) : c->nactions;
}

/* The rounds of its loops count as calls; the next call begins anew. */
static uint32_t return_from(struct run *r, uint32_t i)
{
	const dt_action *actions = r->x->ecb->clause->actions, *a = &actions[i];

	for (uint32_t k = dt_control_target(a); k < i; k++)
		if (r->x->record.actions[k].effect == DT_EFFECT_AGAIN) {
			r->calls += r->e->rounds[dt_control_number(&actions[k])];
			r->e->rounds[dt_control_number(&actions[k])] = 0;
		}
	return may_go_back(r, &r->calls, dt_record_calls(r->e->loopmax)) ? r->e->after[dt_control_number(a)] : i + 1;
}

/* The action after i, whose value is given. */
static uint32_t next_action(struct run *r, uint32_t i, uint64_t value)
{
	const dt_clause *c = r->x->ecb->clause;
	const dt_action *a = &c->actions[i];

	switch (r->x->record.actions[i].effect) {
	case DT_EFFECT_BRANCH: return value ? i + 1 : dt_control_target(a);
	case DT_EFFECT_JUMP: return dt_control_target(a);
	case DT_EFFECT_AGAIN:
		return (a->difo && !value) || !may_go_back(r, &r->e->rounds[dt_control_number(a)], r->e->loopmax)
			   ? i + 1
			   : dt_control_target(a);
	case DT_EFFECT_CALL: r->e->after[dt_control_number(a)] = i + 1; return dt_control_target(a);
	case DT_EFFECT_RETURN: return return_from(r, i);
	case DT_EFFECT_SPECULATE: return speculate(r, i, value);
	default:
		if (dt_vm_use_value(r->e, r->x, i, value, r->rec))
			return i + 1;
		drop_part(r);
		return c->nactions;
	}
}

static enum dt_vm_outcome faulted(struct run *r, uint32_t action)
{
	drop_part(r);
	r->e->vm.fault.epid = r->x->ecb->epid;
	r->e->vm.fault.action = action;
	return DT_VM_FAULTED;
}

static enum dt_vm_outcome run_actions(struct run *r)
{
	const dt_clause *c = r->x->ecb->clause;
	dt_vm *vm = &r->e->vm;
	uint32_t i = 0;

	while (i < c->nactions) {
		bool own = c->actions[i].difo && !c->actions[i].given;
		uint64_t value = own ? dt_vm_run(vm, c->actions[i].difo) : 0;
		uint32_t next = vm->faulted ? 0 : next_action(r, i, value);

		if (vm->faulted)
			return faulted(r, i + 1);
		if (next != i + 1 || next >= part_of(r)->first + part_of(r)->nactions) {
			end_part(r);
			if (next < c->nactions)
				begin_part(r, dt_record_part_at(&r->x->record, next));
		}
		i = next;
	}
	end_part(r);
	return DT_VM_OK;
}

enum dt_vm_outcome dt_vm_do_ecb(dt_vm_engine *e, const struct dt_vm_ecb *x)
{
	const dt_clause *c = x->ecb->clause;
	struct run r = {.e = e, .x = x, .scratch = e->vm.scratch_used};
	uint64_t cost = x->record.cost, limit = e->principal.limit;
	dt_vm *vm = &e->vm;

	if (x->record.loops)
		memset(e->rounds, 0, x->record.loops * sizeof(*e->rounds));
	r.dropped = cost && !x->record.has_control && !dt_vm_has_room(e, x, cost);
	if (r.dropped && !dt_record_ends(&x->record, e->policy))
		return DT_VM_FALSE;
	vm->faulted = vm->gave = false;
	dt_vm_scratch_limit(vm, limit > cost ? limit - cost : 0);
	if (c->pred) {
		uint64_t yes = dt_vm_run(vm, c->pred);

		if (vm->faulted)
			return faulted(&r, 0);
		if (!yes)
			return DT_VM_FALSE;
	}
	begin_part(&r, 0);
	return run_actions(&r);
}
