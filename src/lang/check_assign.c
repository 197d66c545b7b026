/*
 * check_assign: assignment in all its forms.
 *
 * The first assignment to an unknown name creates the variable, with the type of what is
 * assigned; ++ and -- create an int64_t. The compound operators read the variable, so it must be known.
 */
#include "lang/check.h"

static int plain_op(int op)
{
	switch (op) {
	case T_ADD_EQ: return '+';
	case T_SUB_EQ: return '-';
	case T_MUL_EQ: return '*';
	case T_DIV_EQ: return '/';
	case T_MOD_EQ: return '%';
	case T_AND_EQ: return '&';
	case T_XOR_EQ: return '^';
	case T_OR_EQ: return '|';
	case T_SHL_EQ: return T_SHL;
	default: return T_SHR;
	}
}

_Noreturn static void not_an_object(dt_compiler *cc, dt_node *target, int op)
{
	dt_fail(cc, target->pos, D_OP_ARRFUN, "operator %s cannot be applied to %s of type \"%s\"",
		dt_op_name(op), dt_type_is_function(target->type) ? "a function" : "an array",
		dt_tname(cc, target->type));
}

static void need_writable(dt_compiler *cc, dt_node *target, int op)
{
	if (!(target->flags & NF_LVAL))
		dt_fail(cc, target->pos, D_OP_LVAL,
			"operator %s requires modifiable lvalue as an operand", dt_op_name(op));
	if (dt_type_is_function(target->type))
		not_an_object(cc, target, op);
	if (target->kind == N_VAR && target->ident->id == DT_VAR_UREGS &&
	    (target->ident->flags & IDF_BUILTIN))
		dt_fail(cc, target->pos, D_OP_WRITE, "uregs[ ] cannot be written on Linux");
	if (!(target->flags & NF_WRITABLE))
		dt_fail(cc, target->pos, D_OP_WRITE, "operator %s: %s is read-only%s",
			dt_op_name(op),
			target->kind == N_VAR	    ? target->ident->name
			: (target->flags & NF_USER) ? "user memory"
						    : "kernel memory",
			op == '=' ? " (== compares)" : "");
}

static dt_node *finish(dt_node *n, dt_node *l)
{
	n->l = l;
	n->attr = l->attr;
	dt_set_object(n, l->type);
	return n;
}

/* Assigning 0 frees these. */
static bool is_dynamic(const dt_node *n)
{
	return n->kind == N_VAR &&
	       (n->ident->kind == ID_ARRAY || n->ident->scope == DT_SCOPE_THREAD);
}

/* An undeclared variable has the widest integer type that is assigned to it anywhere. When a wider one
 * comes, the clauses before it are compiled again (compile.c). The code of other programs of the
 * session is already generated. */
static void widen(dt_compiler *cc, dt_node *l, dt_type *t)
{
	if (l->kind != N_VAR || !(l->ident->flags & IDF_WIDENS) ||
	    l->ident->generation != cc->generation || !dt_type_is_integer(l->type) ||
	    !dt_type_is_integer(t) ||
	    dt_type_size(cc->types, t) <= dt_type_size(cc->types, l->ident->type))
		return;
	l->ident->type = dt_type_resolve(t);
	l->ident->flags |= IDF_WIDENED;
	l->type = l->ident->type;
}

static dt_node *simple(dt_compiler *cc, dt_node *n)
{
	dt_node *r, *l, *fit;
	bool deletes;

	if (n->l->kind == N_AGG)
		dt_fail(cc, n->pos, D_AGG_FUNC,
			"@%s = ... is a statement, and cannot be part of an expression",
			n->l->name);
	l = dt_target_is_new(cc, n->l) ? NULL : dt_check(cc, n->l);
	r = dt_xlate_object(dt_check(cc, n->r));
	if (!l)
		l = dt_check_target(cc, n->l, r);
	need_writable(cc, l, n->op);
	if (dt_type_is_dyn(r->type))
		dt_fail(
		    cc, n->pos, D_OP_INCOMPAT,
		    "a pointer to a translated object cannot be assigned: assign the object (*p) "
		    "or one of its members");
	deletes = dt_is_null(r) && is_dynamic(l);
	if (dt_type_is_array(l->type) && !deletes)
		not_an_object(cc, l, n->op);
	widen(cc, l, r->type);
	fit = dt_convert(cc, r, l->type);
	if (!fit || (dt_is_null(r) && dt_type_is_sou(dt_type_resolve(l->type)) && !deletes))
		dt_fail(cc, n->pos, D_OP_INCOMPAT,
			"operands have incompatible types: \"%s\" = \"%s\"", dt_tname(cc, l->type),
			dt_what(cc, r));
	n->r = fit;
	return finish(n, l);
}

static bool is_sized_pointer(dt_compiler *cc, dt_type *t)
{
	return dt_type_is_pointer(t) && dt_type_size(cc->types, dt_type_resolve(t)->ref) != 0;
}

static bool is_pointer_like(dt_compiler *cc, dt_type *t, dt_type *like)
{
	return (dt_type_is_pointer(t) || dt_type_is_array(t)) && dt_pointers_fit(cc, t, like);
}

static void sum_types(dt_compiler *cc, dt_node *n, dt_node *l, dt_node *r)
{
	bool string = dt_type_is_string(l->type) || dt_type_is_string(r->type);

	if (!string && dt_type_is_integer(l->type) && dt_type_is_integer(r->type))
		return;
	if (!string && !is_sized_pointer(cc, l->type))
		dt_fail(cc, n->pos, D_OP_VFPTR,
			"operator %s needs two integers, or a pointer to something of known size "
			"on its left: "
			"not \"%s\" and \"%s\"",
			dt_op_name(n->op), dt_what(cc, l), dt_what(cc, r));
	if (string || !(dt_type_is_integer(r->type) || is_pointer_like(cc, r->type, l->type)))
		dt_fail(cc, n->pos, D_OP_INCOMPAT,
			"operands have incompatible types: \"%s\" %s \"%s\"", dt_what(cc, l),
			dt_op_name(n->op), dt_what(cc, r));
}

static void compound_types(dt_compiler *cc, dt_node *n, dt_node *l, dt_node *r)
{
	int op = plain_op(n->op);

	if (op == '+' || op == '-') {
		sum_types(cc, n, l, r);
		return;
	}
	if (!dt_type_is_integer(l->type) || !dt_type_is_integer(r->type))
		dt_fail(cc, n->pos, op == '*' || op == '/' ? D_OP_ARITH : D_OP_INT,
			"operator %s requires operands of integer type, not \"%s\" and \"%s\"",
			dt_op_name(n->op), dt_what(cc, l), dt_what(cc, r));
	if ((op == '/' || op == '%') && dt_is_null(r) && !cc->calls)
		dt_fail(cc, n->pos, D_DIV_ZERO, "expression contains division by zero");
}

static dt_node *compound(dt_compiler *cc, dt_node *n)
{
	dt_node *l, *r;

	if (dt_target_is_new(cc, n->l))
		dt_fail(cc, n->l->pos, D_VAR_UNDEF,
			"operator %s: %s has not yet been declared or assigned", dt_op_name(n->op),
			n->l->name);
	l = dt_check(cc, n->l);
	r = dt_check(cc, n->r);
	if (dt_type_is_array(l->type))
		not_an_object(cc, l, n->op);
	compound_types(cc, n, l, r);
	need_writable(cc, l, n->op);
	if (n->op != T_SHL_EQ && n->op != T_SHR_EQ && dt_type_is_integer(l->type) &&
	    dt_type_is_integer(r->type))
		widen(cc, l, dt_arith_type(cc, l, r));
	n->r = r->flags & NF_BITFIELD ? dt_coerce(cc, r, dt_promoted(cc, r)) : r;
	return finish(n, l);
}

dt_node *dt_check_assign(dt_compiler *cc, dt_node *n)
{
	return n->op == '=' ? simple(cc, n) : compound(cc, n);
}

dt_node *dt_check_incdec(dt_compiler *cc, dt_node *n)
{
	dt_node *l = dt_check_target(cc, n->l, NULL);

	if (l->kind == N_AGG)
		dt_fail(cc, n->pos, D_OP_SCALAR,
			"operator %s cannot be applied to an aggregation; "
			"did you mean @%s = count()?",
			dt_op_name(n->op), l->name);
	if (dt_type_is_array(l->type))
		not_an_object(cc, l, n->op);
	if (!dt_type_is_scalar(l->type) || dt_type_is_float(l->type))
		dt_fail(cc, n->pos, D_OP_SCALAR,
			"operator %s requires operand of scalar type, not %s", dt_op_name(n->op),
			dt_what(cc, l));
	need_writable(cc, l, n->op);
	if (dt_type_is_pointer(l->type) && !is_sized_pointer(cc, l->type))
		dt_fail(cc, n->pos, D_OP_VFPTR,
			"operator %s cannot be applied to a void or function pointer",
			dt_op_name(n->op));
	return finish(n, l);
}
