/*
 * check: gives every expression a type and resolves its names.
 *
 * dt_check() takes a parsed tree and returns the tree to use in its place. What it returns is
 * smaller than what it took: inlines, translators, enumerators, sizeof and offsetof are gone,
 * constants are folded, and every implicit conversion is a cast node. So the generator needs to
 * know about variables, loads, arithmetic and calls, and nothing else.
 *
 *   check_name.c    identifiers, symbols
 *   check_call.c    calls
 *   check_agg.c     aggregations
 *   check_op.c      operators
 *   check_assign.c  assignment, ++ and --
 *   check_member.c  . -> offsetof
 *   check_else.c    ??
 *   check_xlate.c   inlines and translators
 *   check_convert.c casts and implicit conversions
 *   fold.c          arithmetic on constants
 *
 * A checked node has NF_CHECKED; checking it again does nothing, so an argument of an inline can be
 * checked once and then replace its formal everywhere.
 */
#include "lang/check.h"

static dt_node *check_node(dt_compiler *cc, dt_node *n)
{
	switch (n->kind) {
	case N_INT: return n;
	case N_STRING:
		n->type = dt_intrinsics(cc->types)->string;
		n->flags |= NF_REF | NF_CONST_STR;
		return n;
	case N_IDENT: return dt_check_ident(cc, n);
	case N_SYM: return dt_check_sym(cc, n);
	case N_CALL: return dt_check_call(cc, n);
	case N_OP1: return dt_check_op1(cc, n);
	case N_OP2: return dt_check_op2(cc, n);
	case N_OP3: return dt_check_op3(cc, n);
	case N_OFFSETOF: return dt_check_offsetof(cc, n);
	case N_XLATE: return dt_check_xlate(cc, n);
	case N_AGG: return dt_check_agg(cc, n);
	case N_TYPE: dt_fail(cc, n->pos, D_SYNTAX, "a type name is not a value");
	default: return n;
	}
}

static dt_node *check_one(dt_compiler *cc, dt_node *n)
{
	dt_node *next = n->next, *out;

	dt_depth_enter(cc, n->pos);
	out = check_node(cc, n);
	dt_depth_leave(cc);
	out->flags |= NF_CHECKED;
	out->next = next;
	if (!out->from) {
		out->from = n->from;
		out->written = n->written;
		out->use = n->use;
	}
	return out;
}

/* Is n an operation that checks its left operand before anything else? */
static bool is_link(const dt_node *n)
{
	return n->kind == N_OP2 && !(n->flags & NF_CHECKED) && !dt_is_assign_op(n->op) &&
	       n->op != T_OTHERWISE;
}

/* a + b + c ... and p->a->b ... make a tree that is deep on its left. It is checked from the
 * innermost link outwards, where each left side has already been checked, so that long chains use
 * no stack. */
dt_node *dt_check(dt_compiler *cc, dt_node *n)
{
	DT_VEC(dt_node *) links = {0};

	if (n->flags & NF_CHECKED)
		return n;
	if (is_link(n) && is_link(n->l)) {
		for (dt_node *l = n; is_link(l->l); l = l->l)
			*dt_vec_add(&links, cc->scratch) = l;
		while (links.n--)
			links.v[links.n]->l = check_one(cc, links.v[links.n]->l);
	}
	return check_one(cc, n);
}

bool dt_node_is_const_int(const dt_node *n, int64_t *v)
{
	if (n->kind != N_INT)
		return false;
	if (v)
		*v = (int64_t)n->ival;
	return true;
}

bool dt_node_is_string(const dt_node *n)
{
	return n->type && dt_type_is_string(n->type);
}

bool dt_check_const(dt_compiler *cc, dt_node *n, int64_t *v, dt_type **type)
{
	n = dt_check(cc, n);
	if (type)
		*type = n->type;
	return dt_node_is_const_int(n, v);
}

void dt_check_args_count(dt_compiler *cc, dt_node *call, uint32_t min, uint32_t max,
			 enum dt_tag tag)
{
	uint32_t n = dt_list_len(call->args);
	const char *name = call->name ? call->name : call->ident->name;

	if (n >= min && n <= max)
		return;
	if (max == UINT32_MAX)
		dt_fail(cc, call->pos, tag, "%s( ) takes at least %u argument%s, not %u", name, min,
			min == 1 ? "" : "s", n);
	if (min == max)
		dt_fail(cc, call->pos, tag, "%s( ) takes %u argument%s, not %u", name, min,
			min == 1 ? "" : "s", n);
	dt_fail(cc, call->pos, tag, "%s( ) takes %u to %u arguments, not %u", name, min, max, n);
}

dt_diftype dt_diftype_of(dt_compiler *cc, dt_type *t)
{
	dt_type *r = dt_type_resolve(t);
	uint64_t size = dt_type_size(cc->types, t);

	if (size > UINT32_MAX)
		size = UINT32_MAX;
	if (dt_type_is_string(r))
		return (dt_diftype){DT_TYPE_STRING, DT_K_UNKNOWN, DT_TF_BYREF, 0, (uint32_t)size};
	return (dt_diftype){DT_TYPE_CTF, (uint8_t)r->kind, dt_type_is_byref(r) ? DT_TF_BYREF : 0, 0,
			    (uint32_t)size};
}

const char *dt_tname(dt_compiler *cc, const dt_type *t)
{
	return dt_type_name(cc->types, t);
}

const char *dt_what(dt_compiler *cc, const dt_node *n)
{
	if (n->kind == N_AGG)
		return dt_arena_printf(cc->arena, "aggregation @%s", n->name);
	if (n->kind == N_FUNC && n->ident->kind != ID_SUBR)
		return dt_arena_printf(cc->arena, "%s( ), which has no value", n->ident->name);
	return dt_tname(cc, n->type);
}
