/*
 * var: user variables.
 *
 *   globals		one value of an array map: a plain load or store
 *   clause-locals	in the slot
 *   thread-locals	all of a session in one object per thread, freed with it: thread.c
 *   arrays		one hash map per array, keys of exactly the size they need
 *
 * By reference (strings, structs): 8 bytes, then the object; reading gives its address. For globals
 * and clause-locals the first byte is set for NULL, so that unset strings are empty. For
 * thread-locals and array elements it is set when there is something, so that unset ones are NULL.
 *
 * A map refuses a change if it is locked by the firing that this one interrupted (a probe at a lock
 * inside the map; before Linux 6.2 any interrupt at the wrong moment), or if it has no memory at
 * the moment. So all arrays share a second map, with its own locks, whose key is preceded by a word
 * that identifies the array; control->spared says that it is in use. It also takes the elements for
 * which their own map has no room, unless dynvarsize is so small that nothing is left for it.
 *
 * Storing 0 removes an array element. An element kept by reference is created when it is
 * referenced, filled with zeros, as in the interpreter. If an element or thread object cannot be
 * created, the store is lost and counted as a dynamic variable drop.
 */
#include <errno.h>

#include "bpf/translate/translate.h"

struct dt_tr_var dt_tr_var_find(const dt_tr *t, int scope, uint32_t id)
{
	const struct dt_plan_scope *s = &t->plan->vars[scope];
	uint32_t i = id - DT_VAR_USER_MIN;
	struct dt_tr_var x = {.fd = -1, .tag = dt_tr_array_tag(scope, id)};

	if (id < DT_VAR_USER_MIN || i >= s->n)
		return x;
	x.v = &s->v[i];
	x.keys = &t->need->keys[scope][i];
	x.at = &t->at->vars[scope].v[i];
	x.array = x.v->array || x.keys->array;
	if (t->maps->var[scope])
		x.fd = t->maps->var[scope][i];
	return x;
}

/* ---- copying an object into storage ---- */

/*
 * The object at the address in DIF register rs goes to (r8 + 8), r8 being the storage with its
 * prefix; the prefix becomes `set` or, for address 0, `null`.
 */
static void store_object(dt_tr *t, const struct dt_tr_var *x, uint32_t rs, int set, int null)
{
	dt_code *c = t->c;
	uint32_t is_null = dt_code_label(c), done = dt_code_label(c);
	int read =
	    x->v->string
		? (x->v->user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str)
		: (x->v->user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);

	dt_tr_here(t);
	dt_tr_get(t, R3, rs);
	jmpi(c, BPF_JEQ, R3, 0, is_null);
	st(c, 8, R6, S_FVALUE, R3);
	if (x->v->user)
		dt_tr_user_memory(t);
	mov(c, R1, R8);
	alui(c, BPF_ADD, R1, 8);
	movi(c, R2, (int32_t)x->v->size);
	dt_tr_read(t, read);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	sti(c, 8, R8, 0, set);
	ja(c, done);
	dt_code_place(c, is_null);
	sti(c, 8, R8, 0, null);
	dt_code_place(c, done);
}

/* r0 = address of the object that r8 points to, or 0 when the prefix says there is none */
static void load_object(dt_tr *t, const struct dt_tr_var *x, uint32_t rd, int null)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	ld(c, 8, R1, R8, 0);
	jmpi(c, BPF_JEQ, R1, null, none);
	alui(c, BPF_ADD, R8, 8);
	st(c, 8, R6, S_SELF, R8); /* through memory: an address becomes a number */
	ld(c, 8, R0, R6, S_SELF);
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
	dt_tr_set(t, rd, R0,
		  x->v->string ? (dt_tr_val){.kind = V_STRING, .bound = x->v->size} : NUMBER);
}

/* ---- scalars ---- */

/* r8 = storage of a global or clause-local */
static void static_storage(dt_tr *t, int scope, const struct dt_tr_var *x)
{
	if (scope == DT_SCOPE_GLOBAL)
		map_value(t->c, R8, t->maps->globals, x->at->offset);
	else
		dt_slot_lea(t->c, R8, t->at->local_vars + x->at->offset);
}

/* A number in the slot, within reach of one instruction. */
static bool is_near(const dt_tr *t, int scope, const struct dt_tr_var *x)
{
	return scope == DT_SCOPE_LOCAL && !x->v->byref &&
	       t->at->local_vars + x->at->offset < DT_SLOT_FAR;
}

enum { THREAD_AT = -64 }; /* on the stack of a clause: the variables of the thread */

/*
 * r0 = the variables of the thread, which are made if asked; r8 = an object among them.
 *
 * Where they are does not change before the thread ends. So a clause that is left if there are none looks for them once.
 */
static void thread_storage(dt_tr *t, const struct dt_tr_var *x, bool make, uint32_t none)
{
	if (t->has_thread && !t->function) {
		ld(t->c, 8, R0, R10, THREAD_AT);
	} else if (t->no_thread != UINT32_MAX) {
		dt_thread_value(t, make);
		jmpi(t->c, BPF_JEQ, R0, 0, t->no_thread);
		st(t->c, 8, R10, THREAD_AT, R0);
		t->has_thread = true;
		t->no_thread = UINT32_MAX;
	} else {
		dt_thread_value(t, make);
		jmpi(t->c, BPF_JEQ, R0, 0, none);
	}
	if (x->v->byref) {
		mov(t->c, R8, R0);
		alui(t->c, BPF_ADD, R8, (int32_t)x->at->offset);
	}
}

/* What follows is for threads without variables, up to the label that is returned. */
static uint32_t thread_without(dt_tr *t, uint32_t none)
{
	uint32_t done = dt_code_label(t->c);

	ja(t->c, done);
	dt_code_place(t->c, none);
	return done;
}

static void thread_load(dt_tr *t, const struct dt_tr_var *x, uint32_t rd)
{
	uint32_t none = dt_code_label(t->c), done;

	thread_storage(t, x, false, none);
	if (x->v->byref)
		load_object(t, x, rd, 0);
	else
		ld(t->c, 8, R0, R0, (int)x->at->offset);
	if (dt_code_is_target(t->c, none)) {
		done = thread_without(t, none);
		movi(t->c, R0, 0);
		dt_code_place(t->c, done);
	}
	dt_tr_set(t, rd, R0,
		  x->v->string ? (dt_tr_val){.kind = V_STRING, .bound = x->v->size} : NUMBER);
}

static void thread_store(dt_tr *t, const struct dt_tr_var *x, uint32_t rs)
{
	uint32_t none = dt_code_label(t->c), done;

	thread_storage(t, x, true, none);
	if (x->v->byref) {
		store_object(t, x, rs, 1, 0);
	} else {
		mov(t->c, R8, R0);
		dt_tr_get(t, R1, rs);
		st(t->c, 8, R8, (int)x->at->offset, R1);
	}
	if (dt_code_is_target(t->c, none)) {
		done = thread_without(t, none);
		dt_tr_count(t, CPU_DYN_DROPS);
		dt_code_place(t->c, done);
	}
}

void dt_tr_var_load(dt_tr *t, int scope, uint32_t id, uint32_t rd)
{
	struct dt_tr_var found = dt_tr_var_find(t, scope, id), *x = &found;

	if (!x->v || !x->v->seen || x->array) {
		movi(t->c, R0, 0);
		dt_tr_set(t, rd, R0, NUMBER);
		return;
	}
	if (scope == DT_SCOPE_THREAD) {
		thread_load(t, x, rd);
		return;
	}
	if (is_near(t, scope, x)) {
		ld(t->c, 8, R0, R6, (int)(t->at->local_vars + x->at->offset));
		dt_tr_set(t, rd, R0, NUMBER);
		return;
	}
	static_storage(t, scope, x);
	if (x->v->byref) {
		load_object(t, x, rd, 0xff);
		return;
	}
	ld(t->c, 8, R0, R8, 0);
	dt_tr_set(t, rd, R0, NUMBER);
}

/* A pointer to a string, as in this->p = (char *)copyinstr(arg0), needs scratch that lasts. */
static void keeps_pointer(dt_tr *t, const struct dt_tr_var *x, uint32_t rs)
{
	if (x->v && !x->v->byref && rs && t->now.reg[rs].kind == V_STRING)
		dt_tr_needs(t, memory);
}

void dt_tr_var_store(dt_tr *t, int scope, uint32_t id, uint32_t rs)
{
	struct dt_tr_var found = dt_tr_var_find(t, scope, id), *x = &found;

	if (!x->v || !x->v->seen || x->array)
		return;
	keeps_pointer(t, x, rs);
	if (scope == DT_SCOPE_THREAD) {
		thread_store(t, x, rs);
		return;
	}
	if (is_near(t, scope, x)) {
		dt_tr_get(t, R1, rs);
		st(t->c, 8, R6, (int)(t->at->local_vars + x->at->offset), R1);
		return;
	}
	static_storage(t, scope, x);
	if (x->v->byref) {
		store_object(t, x, rs, 0, 0xff);
		return;
	}
	dt_tr_get(t, R1, rs);
	st(t->c, 8, R8, 0, R1);
}

/* ---- arrays ---- */

/* Learn the size of each part of the key. */
static void learn_key(dt_tr *t, int scope, uint32_t id)
{
	struct dt_var_keys *keys = &t->learn->keys[scope][id - DT_VAR_USER_MIN];

	if (t->now.ntuple > keys->n)
		keys->n = t->now.ntuple;
	for (uint32_t i = 0; i < t->now.ntuple; i++) {
		struct dt_var_key *k = &keys->key[i];
		uint32_t size = 8;

		if (t->now.push[i].byref && t->now.push[i].type == DT_TYPE_STRING) {
			k->is_string = true;
			size = dt_tr_bound(t, &t->now.tuple[i]);
		} else if (t->now.push[i].byref) {
			size = (uint32_t)t->now.push[i].size.n;
			if (t->now.push[i].size.kind != V_CONST || size > 4096)
				dt_tr_fail(t, "at DIF offset %u: a key of unknown size", t->loff);
		}
		if (size > k->size)
			k->size = size;
	}
	keys->array = true;
}

/* Write the key of the tuple to slot->dkey. */
static void make_key(dt_tr *t, const struct dt_tr_var *x, bool thread)
{
	dt_code *c = t->c;

	if (thread) {
		dt_tr_thread_id(t);
		dt_slot_st(c, 8, t->at->dkey, R0);
	}
	dt_tr_here(t);
	for (uint32_t i = 0; i < x->keys->n && i < t->now.ntuple; i++) {
		uint32_t off = t->at->dkey + x->at->key[i], size = x->keys->key[i].size;
		uint32_t padded = (uint32_t)dt_align_up(size, 8);

		ld(c, 8, R3, R6, S_TUPLE + (int)i * 8);
		if (t->now.push[i].byref && t->now.push[i].type == DT_TYPE_STRING) {
			if (padded > size)
				dt_tr_zero(t, off + padded - 8, 8);
			ld(c, 8, R3, R6, S_TUPLE + (int)i * 8);
			dt_tr_put_string(t, &t->now.tuple[i], off, size, true);
		} else if (t->now.push[i].byref) {
			uint32_t n = (uint32_t)t->now.push[i].size.n;

			dt_tr_zero(t, off, padded);
			ld(c, 8, R3, R6, S_TUPLE + (int)i * 8);
			st(c, 8, R6, S_FVALUE, R3);
			dt_slot_lea(c, R1, off);
			movi(c, R2, (int32_t)(n < size ? n : size));
			helper(c, BPF_FUNC_probe_read_kernel);
			jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
		} else {
			dt_slot_st(c, 8, off, R3);
		}
	}
	for (uint32_t i = t->now.ntuple; i < x->keys->n; i++)
		dt_tr_zero(t, t->at->dkey + x->at->key[i],
			   (uint32_t)dt_align_up(x->keys->key[i].size, 8));
}

/* r1 = a map, r2 = the key in it of the element whose key is there in the slot */
static void map_and_key(dt_tr *t, const struct dt_tr_var *x, bool spare, uint32_t key)
{
	if (spare)
		dt_tr_zero(t, key + x->at->key_size, t->at->dkey_size - x->at->key_size);
	map(t->c, R1, spare ? t->maps->spare : x->fd);
	dt_slot_lea(t->c, R2, spare ? key - 8 : key);
	if (spare)
		sti(t->c, 8, R2, 0, (int32_t)x->tag);
}

/* r0 = helper(map, &slot->dkey ...) */
static void of_key(dt_tr *t, const struct dt_tr_var *x, bool spare, int func)
{
	map_and_key(t, x, spare, t->at->dkey);
	helper(t->c, func);
}

static void if_none_spared(dt_tr *t, uint32_t label)
{
	map_value(t->c, R1, t->maps->control, CTL_SPARED);
	ld(t->c, 8, R1, R1, 0);
	jmpi(t->c, BPF_JEQ, R1, 0, label);
}

void dt_tr_element(dt_tr *t, const struct dt_tr_var *x, uint32_t key)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);

	map_and_key(t, x, false, key);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JNE, R0, 0, done);
	if_none_spared(t, done);
	map_and_key(t, x, true, key);
	helper(c, BPF_FUNC_map_lookup_elem);
	dt_code_place(c, done);
}

/* Remove the element from a map; if the map is busy the element stays, unset. */
static void remove_from(dt_tr *t, const struct dt_tr_var *x, bool spare)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);

	of_key(t, x, spare, BPF_FUNC_map_delete_elem);
	jmpi(c, BPF_JEQ, R0, 0, done);
	jmpi(c, BPF_JEQ, R0, -ENOENT, done);
	of_key(t, x, spare, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, done);
	sti(c, 8, R0, 0, 0);
	dt_code_place(c, done);
}

/* r0 = the result of update() for a new element with the key */
static void add_to(dt_tr *t, const struct dt_tr_var *x, bool spare)
{
	dt_code *c = t->c;

	map_and_key(t, x, spare, t->at->dkey);
	map_value(c, R3, t->maps->rodata, t->at->zeros);
	movi(c, R4, BPF_NOEXIST); /* an interrupting firing may have made it meanwhile */
	helper(c, BPF_FUNC_map_update_elem);
}

/* r0 = a new element; `drop` when there is no room for it */
static void make_element(dt_tr *t, const struct dt_tr_var *x, uint32_t drop)
{
	dt_code *c = t->c;
	bool small = !t->at->more_elements; /* then nothing is made if the array is full */
	uint32_t full = small ? dt_code_label(c) : 0, made = dt_code_label(c);

	add_to(t, x, false);
	if (small) {
		dt_tr_map_result(t);
		jmpi(c, BPF_JEQ, R0, -E2BIG, full);
	}
	of_key(t, x, false, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JNE, R0, 0, made);
	map_value(c, R1, t->maps->control, CTL_SPARED);
	sti(c, 8, R1, 0, 1);
	add_to(t, x, true);
	of_key(t, x, true, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JNE, R0, 0, made);
	ja(c, drop);
	if (small) {
		dt_code_place(c, full);
		of_key(t, x, false, BPF_FUNC_map_lookup_elem);
		jmpi(c, BPF_JEQ, R0, 0, drop);
	}
	dt_code_place(c, made);
}

/* A store into the object (a[k].m = 1) needs a pointer, not a number: tr_memory.c looks the key up
 * again. */
static void remember_element(dt_tr *t, const struct dt_tr_var *x, int scope, uint32_t id)
{
	dt_code *c = t->c;

	dt_tr_needs(t, element);
	sti(c, 4, R6, S_ARRAY, (int32_t)dt_tr_array_tag(scope, id));
	for (uint32_t at = 0; at < x->at->key_size; at += 8) {
		dt_slot_lea(c, R1, t->at->dkey + at);
		ld(c, 8, R2, R1, 0);
		dt_slot_st(c, 8, t->at->last_key + at, R2);
	}
}

/*
 * r8 = the element in r0, which is created if there is none (`drop`: no room). An element that is
 * new, or that a busy map has kept, is filled with zeros.
 */
static void object_element(dt_tr *t, const struct dt_tr_var *x, uint32_t drop)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c), set = dt_code_label(c);

	jmpi(c, BPF_JNE, R0, 0, have);
	make_element(t, x, drop);
	dt_code_place(c, have);
	mov(c, R8, R0);
	ld(c, 8, R1, R8, 0);
	jmpi(c, BPF_JNE, R1, 0, set);
	mov(c, R1, R8);
	alui(c, BPF_ADD, R1, 8);
	movi(c, R2, (int32_t)x->v->size);
	map_value(c, R3, t->maps->rodata, t->at->zeros);
	helper(c, BPF_FUNC_probe_read_kernel);
	sti(c, 8, R8, 0, 1);
	dt_code_place(c, set);
}

void dt_tr_array_load(dt_tr *t, int scope, uint32_t id, uint32_t rd)
{
	struct dt_tr_var found = dt_tr_var_find(t, scope, id), *x = &found;
	dt_code *c = t->c;
	uint32_t none, done;

	if (!x->v) {
		movi(c, R0, 0);
		dt_tr_set(t, rd, R0, NUMBER);
		return;
	}
	if (t->learn)
		learn_key(t, scope, id);
	none = dt_code_label(c);
	done = dt_code_label(c);
	make_key(t, x, scope == DT_SCOPE_THREAD);
	dt_tr_element(t, x, t->at->dkey);
	if (x->v->byref) {
		object_element(t, x, none);
		if (!x->v->string)
			remember_element(t, x, scope, id);
		load_object(t, x, rd, 0);
	} else {
		jmpi(c, BPF_JEQ, R0, 0, none);
		ld(c, 8, R0, R0, 0);
	}
	ja(c, done);
	dt_code_place(c, none);
	if (x->v->byref)
		dt_tr_count(t, CPU_DYN_DROPS);
	movi(c, R0, 0);
	dt_code_place(c, done);
	dt_tr_set(t, rd, R0,
		  x->v->string ? (dt_tr_val){.kind = V_STRING, .bound = x->v->size} : NUMBER);
}

/*
 *	if (!value) { remove(array, key); goto done; }
 *	p = lookup(array, key);
 *	if (!p) { p = make(array, key); if (!p) drop }
 *	*p = value
 */
void dt_tr_array_store(dt_tr *t, int scope, uint32_t id, uint32_t rs)
{
	struct dt_tr_var found = dt_tr_var_find(t, scope, id), *x = &found;
	dt_code *c = t->c;
	uint32_t have, drop, done, keep;

	if (!x->v)
		return;
	if (t->learn)
		learn_key(t, scope, id);
	have = dt_code_label(c), drop = dt_code_label(c), done = dt_code_label(c),
	keep = dt_code_label(c);
	make_key(t, x, scope == DT_SCOPE_THREAD);
	dt_tr_get(t, R0, rs);
	jmpi(c, BPF_JNE, R0, 0, keep);
	remove_from(t, x, false);
	if_none_spared(t, done);
	remove_from(t, x, true);
	ja(c, done);
	dt_code_place(c, keep);
	dt_tr_element(t, x, t->at->dkey);
	jmpi(c, BPF_JNE, R0, 0, have);
	make_element(t, x, drop);
	dt_code_place(c, have);
	mov(c, R8, R0);
	if (x->v->byref) {
		store_object(t, x, rs, 1, 0);
	} else {
		dt_tr_get(t, R1, rs);
		st(c, 8, R8, 0, R1);
	}
	ja(c, done);
	dt_code_place(c, drop);
	dt_tr_count(t, CPU_DYN_DROPS);
	dt_code_place(c, done);
}
