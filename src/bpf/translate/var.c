/*
 * var: user variables.
 *
 *   globals		one value of an array map: a plain load or store
 *   clause-locals	in the slot
 *   thread-locals	all of a session in one object per thread, gone with it: thread.c
 *   arrays		one hash map per array, keys of exactly the size they need
 *
 * By reference (strings, structs): 8 bytes, then the object; reading gives its address. For globals
 * and clause-locals the first byte is set for NULL, so that unset strings are empty. For
 * thread-locals and array elements it is set when there is something, so that unset ones are NULL.
 *
 * Storing 0 removes an array element. An element or thread object that cannot be made is a lost
 * store, counted as a dynamic variable drop.
 */
#include "bpf/image.h"

/* ---- copying an object into storage ---- */

/*
 * The object at the address in DIF register rs goes to (r8 + 8), r8 being the storage with its
 * prefix; the prefix becomes `set` or, for address 0, `null`.
 */
static void store_object(dt_tr *t, const struct dt_plan_var *v, uint32_t rs, int set, int null)
{
	dt_code *c = t->c;
	uint32_t is_null = dt_code_label(c), done = dt_code_label(c);
	int read = v->string
		       ? (v->user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str)
		       : (v->user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);

	dt_tr_here(t);
	dt_tr_get(t, R3, rs);
	jmpi(c, BPF_JEQ, R3, 0, is_null);
	st(c, 8, R6, S_FVALUE, R3);
	if (v->user)
		dt_tr_user_memory(t);
	mov(c, R1, R8);
	alui(c, BPF_ADD, R1, 8);
	movi(c, R2, (int32_t)v->size);
	dt_tr_read(t, read);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	sti(c, 8, R8, 0, set);
	ja(c, done);
	dt_code_place(c, is_null);
	sti(c, 8, R8, 0, null);
	dt_code_place(c, done);
}

/* r0 = address of the object behind r8, or 0 when the prefix says there is none */
static void load_object(dt_tr *t, const struct dt_plan_var *v, uint32_t rd, int null)
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
	dt_tr_set(t, rd, R0, v->string ? (dt_tr_val){.kind = V_STRING, .bound = v->size} : NUMBER);
}

/* ---- scalars ---- */

/* r8 = storage of a global or clause-local */
static void static_storage(dt_tr *t, int scope, const struct dt_plan_var *v)
{
	if (scope == DT_SCOPE_GLOBAL)
		map_value(t->c, R8, t->e->fd_globals, v->offset);
	else
		dt_slot_lea(t->c, R8, t->e->at.local_vars + v->offset);
}

static void thread_load(dt_tr *t, const struct dt_plan_var *v, uint32_t rd)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	dt_thread_value(t, false);
	jmpi(c, BPF_JEQ, R0, 0, none);
	if (v->byref) {
		mov(c, R8, R0);
		alui(c, BPF_ADD, R8, (int32_t)v->offset);
		load_object(t, v, rd, 0);
	} else {
		ld(c, 8, R0, R0, (int)v->offset);
	}
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
	dt_tr_set(t, rd, R0, v->string ? (dt_tr_val){.kind = V_STRING, .bound = v->size} : NUMBER);
}

static void thread_store(dt_tr *t, const struct dt_plan_var *v, uint32_t rs)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	dt_thread_value(t, true);
	jmpi(c, BPF_JEQ, R0, 0, none);
	if (v->byref) {
		mov(c, R8, R0);
		alui(c, BPF_ADD, R8, (int32_t)v->offset);
		store_object(t, v, rs, 1, 0);
	} else {
		mov(c, R8, R0);
		dt_tr_get(t, R1, rs);
		st(c, 8, R8, (int)v->offset, R1);
	}
	ja(c, done);
	dt_code_place(c, none);
	dt_tr_count(t, CPU_DYN_DROPS);
	dt_code_place(c, done);
}

void dt_tr_var_load(dt_tr *t, int scope, uint32_t id, uint32_t rd)
{
	const struct dt_plan_var *v = dt_plan_var_find(t->e, scope, id);

	if (!v || !v->seen || v->array) {
		movi(t->c, R0, 0);
		dt_tr_set(t, rd, R0, NUMBER);
		return;
	}
	if (scope == DT_SCOPE_THREAD) {
		thread_load(t, v, rd);
		return;
	}
	static_storage(t, scope, v);
	if (v->byref) {
		load_object(t, v, rd, 0xff);
		return;
	}
	ld(t->c, 8, R0, R8, 0);
	dt_tr_set(t, rd, R0, NUMBER);
}

void dt_tr_var_store(dt_tr *t, int scope, uint32_t id, uint32_t rs)
{
	const struct dt_plan_var *v = dt_plan_var_find(t->e, scope, id);

	if (!v || !v->seen || v->array)
		return;
	if (scope == DT_SCOPE_THREAD) {
		thread_store(t, v, rs);
		return;
	}
	static_storage(t, scope, v);
	if (v->byref) {
		store_object(t, v, rs, 0, 0xff);
		return;
	}
	dt_tr_get(t, R1, rs);
	st(t->c, 8, R8, 0, R1);
}

/* ---- arrays ---- */

/* Learn how large each part of the key must be. */
static void learn_key(dt_tr *t, struct dt_plan_var *v)
{
	if (t->now.ntuple > v->nkeys)
		v->nkeys = t->now.ntuple;
	for (uint32_t i = 0; i < t->now.ntuple; i++) {
		struct dt_plan_key *k = &v->keys[i];
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
	v->array = true;
	v->seen = true;
}

/* Write the key of the tuple to slot->dkey. */
static void make_key(dt_tr *t, const struct dt_plan_var *v, bool thread)
{
	dt_code *c = t->c;

	if (thread) {
		dt_tr_thread_id(t);
		dt_slot_st(c, 8, t->e->at.dkey, R0);
	}
	dt_tr_here(t);
	for (uint32_t i = 0; i < v->nkeys && i < t->now.ntuple; i++) {
		uint32_t off = t->e->at.dkey + v->keys[i].offset, size = v->keys[i].size;
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
	for (uint32_t i = t->now.ntuple; i < v->nkeys; i++)
		dt_tr_zero(t, t->e->at.dkey + v->keys[i].offset,
			   (uint32_t)dt_align_up(v->keys[i].size, 8));
}

/* r0 = lookup(array, &slot->dkey) */
static void lookup(dt_tr *t, const struct dt_plan_var *v)
{
	map(t->c, R1, v->fd);
	dt_slot_lea(t->c, R2, t->e->at.dkey);
	helper(t->c, BPF_FUNC_map_lookup_elem);
}

/* A store into the object (a[k].m = 1) needs a pointer, not a number: tr_memory.c looks the key up
 * again. */
static void remember_element(dt_tr *t, const struct dt_plan_var *v, int scope, uint32_t id)
{
	dt_code *c = t->c;

	t->e->need.element = true;
	sti(c, 4, R6, S_ARRAY, (int32_t)dt_tr_array_tag(scope, id));
	for (uint32_t at = 0; at < v->key_size; at += 8) {
		dt_slot_lea(c, R1, t->e->at.dkey + at);
		ld(c, 8, R2, R1, 0);
		dt_slot_st(c, 8, t->e->at.last_key + at, R2);
	}
}

void dt_tr_array_load(dt_tr *t, int scope, uint32_t id, uint32_t rd)
{
	struct dt_plan_var *v = dt_plan_var_find(t->e, scope, id);
	dt_code *c = t->c;
	uint32_t none, done;

	if (!v) {
		movi(c, R0, 0);
		dt_tr_set(t, rd, R0, NUMBER);
		return;
	}
	if (t->e->learning)
		learn_key(t, v);
	none = dt_code_label(c);
	done = dt_code_label(c);
	make_key(t, v, scope == DT_SCOPE_THREAD);
	lookup(t, v);
	jmpi(c, BPF_JEQ, R0, 0, none);
	if (v->byref) {
		mov(c, R8, R0);
		if (!v->string)
			remember_element(t, v, scope, id);
		load_object(t, v, rd, 0);
	} else {
		ld(c, 8, R0, R0, 0);
	}
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
	dt_tr_set(t, rd, R0, v->string ? (dt_tr_val){.kind = V_STRING, .bound = v->size} : NUMBER);
}

/*
 *	if (!value) { delete(array, key); goto done; }
 *	p = lookup(array, key);
 *	if (!p) { update(array, key, zeros, NOEXIST); p = lookup(array, key); if (!p) drop }
 *	*p = value
 */
void dt_tr_array_store(dt_tr *t, int scope, uint32_t id, uint32_t rs)
{
	struct dt_plan_var *v = dt_plan_var_find(t->e, scope, id);
	dt_code *c = t->c;
	uint32_t have, drop, done, keep;

	if (!v)
		return;
	if (t->e->learning)
		learn_key(t, v);
	have = dt_code_label(c), drop = dt_code_label(c), done = dt_code_label(c),
	keep = dt_code_label(c);
	make_key(t, v, scope == DT_SCOPE_THREAD);
	dt_tr_get(t, R0, rs);
	jmpi(c, BPF_JNE, R0, 0, keep);
	map(c, R1, v->fd);
	dt_slot_lea(c, R2, t->e->at.dkey);
	helper(c, BPF_FUNC_map_delete_elem);
	ja(c, done);
	dt_code_place(c, keep);
	lookup(t, v);
	jmpi(c, BPF_JNE, R0, 0, have);
	map(c, R1, v->fd);
	dt_slot_lea(c, R2, t->e->at.dkey);
	map_value(c, R3, t->e->fd_rodata, t->e->at.zeros);
	movi(c, R4, BPF_NOEXIST);
	helper(c, BPF_FUNC_map_update_elem);
	lookup(t, v);
	jmpi(c, BPF_JEQ, R0, 0, drop);
	dt_code_place(c, have);
	mov(c, R8, R0);
	if (v->byref) {
		store_object(t, v, rs, 1, 0);
	} else {
		dt_tr_get(t, R1, rs);
		st(c, 8, R8, 0, R1);
	}
	ja(c, done);
	dt_code_place(c, drop);
	dt_tr_count(t, CPU_DYN_DROPS);
	dt_code_place(c, done);
}
