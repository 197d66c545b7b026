/*
 * gen_assign: stores into variables, elements, members.
 *
 * A target is opened once: its keys or its address are evaluated and kept in registers; it can then
 * be loaded and stored any number of times without evaluating anything twice. So `a[i++] += 2`
 * increments i once.
 *
 *   x = e            e; stgs x
 *   a[k] = e         e; k; flushts; pushtv k; stgaa a
 *   p->m = e         e; address of p->m; stw
 *   s = t (struct)   t; address of s; setx size; copys        (into memory)
 *                    t; stgs s: the engine copies             (into a variable)
 *   p->s = t (string)  t; address of p->s; strlen(t) + 1; copys
 *   p->f = e (bits)  e cut to the field; ld unit; clear; or; st unit
 *   xlate < T > (e)  setx size; allocs; then as p->m = e, for each member
 */
#include "lang/gen.h"

static int plain_op(int op)
{
	static const int plain[] = {'+', '-', '*', '/', '%', '&', '^', '|', T_SHL, T_SHR};

	return plain[op - T_ADD_EQ];
}

struct target {
	const dt_node *n;
	dt_val *addr; /* memory; NULL: a variable */
	dt_val *keys[DT_DIF_NTREGS];
	uint32_t nkeys;
};

static void target_open(dt_gen *g, struct target *t, const dt_node *n)
{
	t->n = n;
	t->addr = NULL;
	t->nkeys = 0;
	if (n->kind != N_VAR)
		t->addr = dt_gen_addr(g, n, 0);
	else if (n->ident->kind == ID_ARRAY)
		t->nkeys = dt_gen_tuple(g, n->args, t->keys, n->pos);
}

static void target_close(dt_gen *g, struct target *t)
{
	if (t->addr)
		dt_val_drop(g, t->addr);
	for (uint32_t i = 0; i < t->nkeys; i++)
		dt_val_drop(g, t->keys[i]);
	dt_common_forget(g);
}

static dt_val *target_load(dt_gen *g, struct target *t)
{
	dt_val *v;

	if (t->addr) {
		dt_val_hold(t->addr);
		return dt_gen_load(g, t->n, t->addr);
	}
	if (t->nkeys)
		dt_gen_push(g, t->n->args, t->keys);
	v = dt_val_new(g);
	dt_emit_var(g, t->n->ident, false, v->reg);
	return v;
}

static enum dt_op store_op(uint64_t size)
{
	return size == 1 ? DT_OP_STB : size == 2 ? DT_OP_STH : size == 4 ? DT_OP_STW : DT_OP_STX;
}

static void store_at(dt_gen *g, enum dt_op op, dt_val *v, dt_val *addr)
{
	int from = dt_val_pin(g, v), to = dt_val_pin(g, addr);

	dt_emit(g, DT_I_FMT(op, from, 0, to));
	dt_val_unpin(v);
	dt_val_unpin(addr);
}

static void copy_to(dt_gen *g, dt_val *from, dt_val *addr, uint64_t n)
{
	int src = dt_val_pin(g, from), dst = dt_val_pin(g, addr);
	dt_val *size = dt_val_const(g, n);

	dt_emit(g, DT_I_FMT(DT_OP_COPYS, src, size->reg, dst));
	dt_val_drop(g, size);
	dt_val_unpin(from);
	dt_val_unpin(addr);
}

/* A string is copied up to its NUL: memory after it may not be readable. */
static void copy_string(dt_gen *g, dt_val *from, dt_val *addr)
{
	int src = dt_val_pin(g, from), dst = dt_val_pin(g, addr);
	dt_val *n = dt_val_new(g);

	dt_emit(g, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	dt_emit(g, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_STRING, 0, src));
	dt_emit(g, DT_I_IDX(DT_OP_CALL, DT_SUBR_STRLEN, n->reg));
	n = dt_val_op2(g, DT_OP_ADD, n, dt_val_const(g, 1));
	dt_emit(g, DT_I_FMT(DT_OP_COPYS, src, n->reg, dst));
	dt_val_drop(g, n);
	dt_val_unpin(from);
	dt_val_unpin(addr);
}

/* unit = (unit & ~mask) | (v << offset & mask) */
static void store_bits(dt_gen *g, struct target *t, dt_val *v, uint64_t size)
{
	const dt_node *n = t->n;
	uint64_t ones = n->bit_width >= 64 ? UINT64_MAX : ((uint64_t)1 << n->bit_width) - 1;
	enum dt_op ld = size == 1   ? DT_OP_LDUB
			: size == 2 ? DT_OP_LDUH
			: size == 4 ? DT_OP_LDUW
				    : DT_OP_LDX;
	dt_val *unit, *bits;

	dt_val_hold(t->addr);
	unit = dt_val_op1(g, ld, t->addr);
	unit = dt_val_op2(g, DT_OP_AND, unit, dt_val_const(g, ~(ones << n->bit_offset)));
	dt_val_hold(v);
	bits = dt_val_op2(g, DT_OP_AND, v, dt_val_const(g, ones));
	if (n->bit_offset)
		bits = dt_val_op2(g, DT_OP_SLL, bits, dt_val_const(g, n->bit_offset));
	unit = dt_val_op2(g, DT_OP_OR, unit, bits);
	store_at(g, store_op(size), unit, t->addr);
	dt_val_drop(g, unit);
}

static void target_store(dt_gen *g, struct target *t, dt_val *v)
{
	uint64_t size = dt_type_size(g->cc->types, t->n->type);

	if (!t->addr) {
		if (t->nkeys)
			dt_gen_push(g, t->n->args, t->keys);
		dt_emit_var(g, t->n->ident, true, dt_val_reg(g, v));
	} else if (t->n->flags & NF_BITFIELD) {
		store_bits(g, t, v, t->n->bit_unit);
	} else if (dt_type_is_string(t->n->type)) {
		copy_string(g, v, t->addr);
	} else if (dt_gen_is_ref(t->n) || size > 8) {
		copy_to(g, v, t->addr, size);
	} else {
		store_at(g, store_op(size), v, t->addr);
	}
}

/* The value as the target will hold it. */
static dt_val *fit(dt_gen *g, dt_val *v, const dt_node *from, const dt_node *to)
{
	if (dt_type_resolve(to->type)->is_bool)
		return dt_gen_convert(g, v, from, to->type);
	if (to->flags & NF_BITFIELD)
		return dt_gen_extend(g, v, 0, to->bit_width, dt_type_is_signed(to->type));
	return dt_gen_convert(g, v, from, to->type);
}

/* An integer inside an element of an array. The kernel engine finds the element by the key that was used last, so
 * nothing else may be looked up between finding and storing. */
static bool is_in_element(const dt_node *n)
{
	if (!dt_type_is_integer(n->type))
		return false;
	while (n->kind == N_OP2 && (n->op == '.' || n->op == '['))
		n = n->l;
	return n->kind == N_VAR && n->ident->kind == ID_ARRAY;
}

dt_val *dt_gen_assign(dt_gen *g, const dt_node *n)
{
	struct target t;
	dt_val *v, *right = NULL;

	if (n->op == '=') {
		v = fit(g, dt_gen_value(g, n->r), n->r, n->l);
		target_open(g, &t, n->l);
	} else {
		if (n->r->kind != N_INT && n->l->kind != N_VAR && is_in_element(n->l))
			right = dt_gen_value(g, n->r);
		target_open(g, &t, n->l);
		v = dt_gen_arith(g, plain_op(n->op), target_load(g, &t),
				 n->l->flags & NF_BITFIELD ? dt_promoted(g->cc, n->l) : n->l->type,
				 n->r, right);
		v = fit(g, v, NULL, n->l);
	}
	target_store(g, &t, v);
	target_close(g, &t);
	return v;
}

dt_val *dt_gen_object(dt_gen *g, const dt_node *n)
{
	dt_val *at = dt_val_const(g, dt_type_size(g->cc->types, n->type)), *v;
	int size = dt_val_pin(g, at);

	at = dt_val_result(g, at, NULL);
	dt_emit(g, DT_I_FMT(DT_OP_ALLOCS, size, 0, at->reg));
	for (dt_node *a = dt_xlate_members(g->cc, dt_node_copy(g->cc, n)); a; a = a->next) {
		struct target t = {.n = a->l};

		dt_common_scan(g, a->r);
		v = fit(g, dt_gen_value(g, a->r), a->r, a->l);
		dt_val_hold(at);
		t.addr =
		    a->l->offset ? dt_val_op2(g, DT_OP_ADD, at, dt_val_const(g, a->l->offset)) : at;
		target_store(g, &t, v);
		dt_val_drop(g, v);
		target_close(g, &t);
	}
	return at;
}

dt_val *dt_gen_incdec(dt_gen *g, const dt_node *n, bool value_used)
{
	bool post = n->op == T_POSTINC || n->op == T_POSTDEC;
	bool add = n->op == T_INC || n->op == T_POSTINC;
	uint64_t step = dt_gen_pointee(g, n->l->type);
	struct target t;
	dt_val *v, *old = NULL;

	target_open(g, &t, n->l);
	v = target_load(g, &t);
	if (post && value_used) {
		old = v;
		dt_val_hold(old);
	}
	v = dt_val_op2(g, add ? DT_OP_ADD : DT_OP_SUB, v, dt_val_const(g, step ? step : 1));
	v = fit(g, v, NULL, n->l);
	target_store(g, &t, v);
	target_close(g, &t);
	if (!old)
		return v;
	dt_val_drop(g, v);
	return old;
}
