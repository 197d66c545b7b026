/*
 * vm_action: the data of the actions of a clause, and their effects. vm_ecb.c runs them.
 *
 * When the engine opens, every action gets a plan: is its value a datum of the record (and where),
 * a key of an aggregation, or only an effect (engine/record_plan.h).
 *
 * enum dt_payload (dif/actions.h) describes the bytes of a datum. The interpreter does not run in
 * the kernel: its stacks are empty.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "vm/machine.h"

/* ---- data ---- */

static void store_number(uint8_t *to, uint32_t size, uint64_t v)
{
	uint8_t b = (uint8_t)v;
	uint16_t h = (uint16_t)v;
	uint32_t w = (uint32_t)v;

	switch (size) {
	case 1: memcpy(to, &b, 1); break;
	case 2: memcpy(to, &h, 2); break;
	case 4: memcpy(to, &w, 4); break;
	default: memcpy(to, &v, size < 8 ? size : 8); break;
	}
}

static bool store_printm(dt_vm *vm, uint8_t *to, uint32_t size, uint64_t v)
{
	const void *pair = dt_vm_readable(vm, v, 16);
	uint64_t ref[2]; /* address, length */

	if (!pair || size < 8)
		return false;
	memcpy(ref, pair, sizeof(ref));
	if (ref[1] > size - 8)
		ref[1] = size - 8;
	memcpy(to, &ref[1], 8);
	return dt_vm_copy(vm, ref[0], to + 8, ref[1], false, false);
}

static void store_ustack(dt_vm *vm, const dt_action *a, uint8_t *to, uint64_t pid)
{
	uint32_t words = a->size / 8, frames = (uint32_t)a->arg;

	memcpy(to, &pid, a->size < 8 ? a->size : 8);
	if (words > 1 && to == (void *)((uintptr_t)to & ~(uintptr_t)7))
		dt_vm_ustack(vm, (uint64_t *)(void *)(to + 8), frames && frames < words ? frames : words - 1);
}

/* The value of an action as a datum of p->bound bytes; `to` is zeroed. False: a fault. */
static bool store_datum(dt_vm *vm, const dt_action *a, const struct dt_action_plan *p, uint64_t v,
			uint8_t *to)
{
	uint8_t flags = a->difo ? a->difo->rtype.flags : 0;
	uint64_t pid_value[2] = {(uint64_t)getpid(), v};

	switch (p->payload) {
	case DT_PAYLOAD_NONE:
	case DT_PAYLOAD_IMMSTACK:
	case DT_PAYLOAD_STACK: return true;
	case DT_PAYLOAD_USTACK: store_ustack(vm, a, to, pid_value[0]); return true;
	case DT_PAYLOAD_USYM: memcpy(to, pid_value, a->size < 16 ? a->size : 16); return true;
	case DT_PAYLOAD_SYM: store_number(to, a->size, v); return true;
	case DT_PAYLOAD_BYTES: return dt_vm_copy(vm, v, to, a->size, false, flags & DT_TF_BYUREF);
	case DT_PAYLOAD_PACKET: return v == 0 || dt_vm_fault(vm, DT_FLT_BADADDR, v);
	case DT_PAYLOAD_COUNTED: return store_printm(vm, to, a->size, v);
	case DT_PAYLOAD_VALUE: break;
	}
	if (p->is_string || (flags & (DT_TF_BYREF | DT_TF_BYUREF)))
		return dt_vm_copy(vm, v, to, p->bound, p->is_string, flags & DT_TF_BYUREF);
	store_number(to, a->size, v);
	return true;
}

static bool add_key(dt_vm_engine *e, const dt_action *a, const struct dt_action_plan *p, uint64_t v)
{
	uint32_t size = a->size;
	uint8_t *key;

	if (p->is_number) { /* equal by value, whatever the size of the expression */
		dt_vm_agg_key(e->aggs, &(dt_datum){&v, 8, size}, size);
		return true;
	}
	key = dt_vm_agg_room(e->aggs, p->bound + 1);
	if (!store_datum(&e->vm, a, p, v, key))
		return false;
	if (p->is_string)
		size = (uint32_t)strlen((char *)key) + 1;
	dt_vm_agg_key(e->aggs, &(dt_datum){key, size, 0}, a->size);
	return true;
}

/* The datum came from the machine (dt_action.given). */
static void use_given(dt_vm_engine *e, const dt_action *a, const struct dt_action_plan *p, dt_vm_rec *rec)
{
	const dt_datum *d = &e->vm.fire->given[a->given - 1];

	if (p->role == DT_ROLE_KEY)
		dt_vm_agg_key(e->aggs, d, a->size);
	else if (p->role == DT_ROLE_DATA && d->data)
		memcpy(rec->data + p->offset, d->data, d->size < a->size ? d->size : a->size);
}

/* ---- effects ---- */

/* Sleeping is equivalent to spinning here: nothing else of this session can run meanwhile. */
static void chill(dt_vm_engine *e, uint64_t ns)
{
	uint64_t now = dt_vm_now();
	struct timespec t = {0};

	if (now - e->chill_window > DT_CHILL_INTERVAL) {
		e->chill_window = now;
		e->chill_used = 0;
	}
	if (ns > DT_CHILL_MAX || e->chill_used + ns > DT_CHILL_MAX) {
		dt_vm_fault(&e->vm, DT_FLT_ILLOP, 0);
		return;
	}
	e->chill_used += ns;
	t.tv_nsec = (long)ns;
	nanosleep(&t, NULL);
	e->vm.fire->timestamp = 0; /* time has passed: read it again */
}

static void commit(dt_vm_engine *e, const struct dt_vm_ecb *x, uint64_t id)
{
	uint64_t reserve = x->probe == DT_VM_END ? 0 : e->buffer.end_reserve;
	bool bad;
	dt_vm_buf *b = dt_vm_spec_data(e->vm.specs, id, &bad);

	if (b &&
	    !dt_vm_buf_move(&e->principal, b, dt_vm_builtin(&e->vm, DT_VAR_TIMESTAMP), reserve))
		dt_vm_count_drop(e, e->drops);
	dt_vm_spec_discard(e->vm.specs, id, &bad);
	if (bad)
		dt_vm_fault(&e->vm, DT_FLT_ILLOP, 0);
}

static void discard(dt_vm_engine *e, uint64_t id)
{
	bool bad;

	dt_vm_spec_discard(e->vm.specs, id, &bad);
	if (bad)
		dt_vm_fault(&e->vm, DT_FLT_ILLOP, 0);
}

static void aggregate(dt_vm_engine *e, const struct dt_action_plan *p, const dt_action *a,
		      uint64_t value)
{
	uint64_t incr = 1;

	if (a->incr) {
		incr = dt_vm_run(&e->vm, a->incr);
		if (e->vm.faulted)
			return;
	}
	if (!dt_vm_agg_add(e->aggs, p->agg, e->vm.fire->cpu, (int64_t)value, (int64_t)incr))
		dt_vm_count_drop(e, e->agg_drops);
}

/* False: the clause is dropped as a whole, because another exit() came first. END's replaces the status. */
static bool effect(dt_vm_engine *e, const struct dt_vm_ecb *x, enum dt_effect what, uint64_t value)
{
	switch (what) {
	case DT_EFFECT_EXIT:
		if (e->exiting && !e->ending)
			return false;
		e->exiting = true;
		e->exit_status = (int)value;
		break;
	case DT_EFFECT_RAISE:
		if (value < 65)
			kill(getpid(), (int)value);
		break;
	case DT_EFFECT_CHILL: chill(e, value); break;
	case DT_EFFECT_COMMIT: commit(e, x, value); break;
	case DT_EFFECT_DISCARD: discard(e, value); break;
	case DT_EFFECT_STOP: /* it would stop the tracer itself, and nothing could continue it */
	case DT_EFFECT_NONE:
	case DT_EFFECT_SPECULATE: /* vm_ecb.c */
	case DT_EFFECT_BRANCH:
	case DT_EFFECT_JUMP:
	case DT_EFFECT_AGAIN:
	case DT_EFFECT_CALL:
	case DT_EFFECT_RETURN:
	case DT_EFFECT_AGGREGATE:
	case DT_EFFECT_REFUSED: break;
	}
	return true;
}

bool dt_vm_use_value(dt_vm_engine *e, const struct dt_vm_ecb *x, uint32_t i, uint64_t value,
		     dt_vm_rec *rec)
{
	const dt_action *a = &x->ecb->clause->actions[i];
	const struct dt_action_plan *p = &x->record.actions[i];

	if (a->given) {
		use_given(e, a, p, rec);
		return true;
	}
	switch (p->role) {
	case DT_ROLE_KEY_ID: dt_vm_agg_begin(e->aggs); break;
	case DT_ROLE_KEY: add_key(e, a, p, value); break;
	case DT_ROLE_AGG: aggregate(e, p, a, value); break;
	case DT_ROLE_DATA:
		store_datum(&e->vm, a, p, value, rec->data + p->offset);
		return effect(e, x, p->effect, value);
	case DT_ROLE_EFFECT: return effect(e, x, p->effect, value);
	}
	return true;
}
