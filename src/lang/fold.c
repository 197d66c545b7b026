/*
 * fold: arithmetic on constants, with the results that the generated code would have: 64-bit
 * registers; unsigned results wrap around at the width of their type, signed ones that do not fit have a
 * wider type.
 */
#include "lang/check.h"
#include "lang/split.h"

uint64_t dt_fit(dt_compiler *cc, uint64_t v, dt_type *t)
{
	uint64_t size = dt_type_size(cc->types, t);
	unsigned shift;

	if (dt_type_resolve(t)->is_bool)
		return v != 0;
	if (size == 0 || size >= 8)
		return v;
	shift = (unsigned)(64 - size * 8);
	v <<= shift;
	return dt_type_is_signed(t) ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

static dt_node *constant(dt_compiler *cc, dt_node *at, uint64_t v)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	dt_type *t = at->type;

	if (!dt_type_is_signed(t))
		v = dt_fit(cc, v, t);
	else if (v != dt_fit(cc, v, t)) /* the next wider type that holds it */
		t = v == dt_fit(cc, v, in->int_) ? in->int_ : in->long_;
	return dt_node_int(cc, at->pos, v, t);
}

/* n is a checked unary operation with its type set; its operand may be a constant. */
dt_node *dt_fold1(dt_compiler *cc, dt_node *n)
{
	uint64_t v = n->l->ival;

	if (n->l->kind != N_INT || dt_split_is_constant(n->l))
		return n;
	switch (n->op) {
	case '-': return constant(cc, n, -v);
	case '~': return constant(cc, n, ~v);
	case '!': return constant(cc, n, v == 0);
	default: return n;
	}
}

static bool compare(int op, uint64_t a, uint64_t b, bool is_signed)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case T_EQ: return a == b;
	case T_NE: return a != b;
	case '<': return is_signed ? sa < sb : a < b;
	case T_LE: return is_signed ? sa <= sb : a <= b;
	case '>': return is_signed ? sa > sb : a > b;
	default: return is_signed ? sa >= sb : a >= b;
	}
}

/* b is not 0; INT64_MIN / -1 wraps as negation does. */
static uint64_t divide(int op, uint64_t a, uint64_t b, bool is_signed)
{
	if (!is_signed)
		return op == '/' ? a / b : a % b;
	if ((int64_t)b == -1)
		return op == '/' ? -a : 0;
	return (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

/* n is a checked binary operation on integers, operands already converted to a common type. */
dt_node *dt_fold2(dt_compiler *cc, dt_node *n)
{
	uint64_t a = n->l->ival, b = n->r->ival;
	bool is_signed = dt_type_is_signed(n->l->type);

	if (n->l->kind != N_INT || n->r->kind != N_INT || dt_split_is_constant(n->l) || dt_split_is_constant(n->r))
		return n;
	switch (n->op) {
	case '+': return constant(cc, n, a + b);
	case '-': return constant(cc, n, a - b);
	case '*': return constant(cc, n, a * b);
	case '/':
	case '%': return b ? constant(cc, n, divide(n->op, a, b, is_signed)) : n; /* it faults */
	case '&': return constant(cc, n, a & b);
	case '|': return constant(cc, n, a | b);
	case '^': return constant(cc, n, a ^ b);
	case T_SHL: return constant(cc, n, a << (b & 63));
	case T_SHR:
		return constant(cc, n,
				is_signed ? (uint64_t)((int64_t)a >> (b & 63)) : a >> (b & 63));
	case T_ANDAND: return constant(cc, n, a && b);
	case T_OROR: return constant(cc, n, a || b);
	case T_XORXOR: return constant(cc, n, !a != !b);
	case T_EQ:
	case T_NE:
	case '<':
	case T_LE:
	case '>':
	case T_GE: return constant(cc, n, compare(n->op, a, b, is_signed));
	default: return n;
	}
}
