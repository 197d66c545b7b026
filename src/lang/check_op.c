/*
 * check_op: unary, binary and conditional operators.
 *
 * Integer operands are converted to their common type before the operation, as C does, but those
 * smaller than an int are not promoted in arithmetic; the resulting cast nodes tell the generator
 * where a value must be truncated or extended, and cost nothing where it need not be.
 */
#include "lang/check.h"

/* Operands of , and ?: may have any type except these. */
static void refuse_dynamic(dt_compiler *cc, const dt_node *n, const char *op)
{
	if (n->kind == N_AGG || dt_type_is_dyn(n->type))
		dt_fail(cc, n->pos, D_OP_DYN, "%s cannot be an operand of %s",
			n->kind == N_AGG ? dt_what(cc, n)
					 : "a translated object, whose members could be,",
			op);
}

static void refuse_action(dt_compiler *cc, const dt_node *n, const char *op)
{
	if (n->kind == N_FUNC && n->ident->kind != ID_SUBR)
		dt_fail(cc, n->pos, D_OP_ACT, "%s( ) is an action: it cannot be an operand of %s",
			n->ident->name, op);
}

_Noreturn static void incompatible(dt_compiler *cc, dt_node *n, dt_node *l, dt_node *r)
{
	dt_fail(cc, n->pos, D_OP_INCOMPAT, "operands have incompatible types: \"%s\" %s \"%s\"",
		dt_what(cc, l), n->kind == N_OP3 ? ":" : dt_op_name(n->op), dt_what(cc, r));
}

static bool is_scalar_value(const dt_type *t)
{
	return dt_type_is_scalar(t) && !dt_type_is_float(t);
}

static void need_scalar(dt_compiler *cc, dt_node *n, dt_node *v)
{
	if (!is_scalar_value(v->type))
		dt_fail(cc, n->pos, D_OP_SCALAR,
			"operator %s requires operands of scalar type, not \"%s\"",
			n->kind == N_OP3 ? "?:" : dt_op_name(n->op), dt_what(cc, v));
}

static void need_integers(dt_compiler *cc, dt_node *n, dt_node *l, dt_node *r, enum dt_tag tag)
{
	dt_node *bad = !dt_type_is_integer(l->type) ? l : r;

	if (dt_type_is_integer(bad->type))
		return;
	dt_fail(cc, n->pos, tag, "operator %s requires operands of %s type, not \"%s\"%s",
		dt_op_name(n->op), tag == D_OP_INT ? "integral" : "arithmetic", dt_what(cc, bad),
		dt_type_is_float(bad->type) ? ": floating-point values can only be printed" : "");
}

/* A bit-field narrower than an int is an int in arithmetic, even if it is unsigned. */
dt_type *dt_promoted(dt_compiler *cc, const dt_node *n)
{
	if ((n->flags & NF_BITFIELD) && n->bit_width < 32)
		return dt_intrinsics(cc->types)->int_;
	return dt_type_promote(cc->types, n->type);
}

/* The common type of two integer operands, which are converted to it. */
static dt_type *unify_integers(dt_compiler *cc, dt_node *n)
{
	dt_type *t = dt_type_usual(cc->types, dt_promoted(cc, n->l), dt_promoted(cc, n->r));

	n->l = dt_coerce(cc, n->l, t);
	n->r = dt_coerce(cc, n->r, t);
	return t;
}

/* Small integers are not promoted: the operand of higher rank gives the type. */
static dt_type *own_type(dt_compiler *cc, const dt_node *n)
{
	const dt_type *r = dt_type_resolve(n->type);

	return (n->flags & NF_BITFIELD) || r->kind != DT_K_INTEGER || r->is_bool
		   ? dt_promoted(cc, n)
		   : n->type;
}

dt_type *dt_arith_type(dt_compiler *cc, const dt_node *l, const dt_node *r)
{
	dt_type *a = own_type(cc, l), *b = own_type(cc, r);
	uint64_t x = dt_type_size(cc->types, a), y = dt_type_size(cc->types, b);

	if (x >= sizeof(int) || y >= sizeof(int))
		return dt_type_usual(cc->types, dt_promoted(cc, l), dt_promoted(cc, r));
	return x * 8 + !dt_type_is_signed(a) >= y * 8 + !dt_type_is_signed(b) ? a : b;
}

/* ---- unary ---- */

dt_node *dt_check_deref(dt_compiler *cc, dt_node *n)
{
	dt_type *t = dt_type_resolve(n->l->type);

	if (!dt_type_is_pointer(t) && !dt_type_is_array(t))
		dt_fail(cc, n->pos, D_DEREF_NONPTR, "cannot dereference non-pointer type \"%s\"",
			dt_what(cc, n->l));
	if (dt_type_is_void(t->ref))
		dt_fail(cc, n->pos, D_DEREF_VOID,
			"cannot dereference pointer to void: cast it to a pointer to a type first");
	if (dt_type_is_function(t->ref))
		dt_fail(cc, n->pos, D_DEREF_FUNC, "cannot dereference pointer to function");
	if (!dt_type_is_complete(cc->types, t->ref))
		dt_fail(cc, n->pos, D_OP_INCOMPLETE,
			"cannot dereference pointer to incomplete type %s", dt_tname(cc, t->ref));
	n->flags |= NF_LVAL;
	if (dt_type_is_pointer(t) ? t->userland : (n->l->flags & NF_USER) != 0)
		n->flags |= NF_USER;
	else
		n->flags |= NF_WRITABLE;
	dt_set_object(n, t->ref);
	dt_user_pointer_read(cc, n);
	return n;
}

static dt_node *address_of(dt_compiler *cc, dt_node *n)
{
	dt_node *l = n->l;

	if (l->kind == N_VAR || l->kind == N_AGG)
		dt_fail(cc, n->pos, D_ADDROF_VAR, "cannot take the address of variable %s",
			l->kind == N_AGG ? l->name : l->ident->name);
	if (!(l->flags & NF_LVAL))
		dt_fail(cc, n->pos, D_ADDROF_LVAL, "operator & requires an lvalue as an operand");
	if (l->flags & NF_BITFIELD)
		dt_fail(cc, n->pos, D_ADDROF_BITFIELD, "cannot take the address of a bit-field");
	n->type = dt_type_pointer(cc->types, l->type);
	if (l->flags & NF_USER)
		n->type = dt_type_userland(cc->types, n->type);
	return n;
}

static dt_node *size_of(dt_compiler *cc, dt_node *n)
{
	dt_node *l = n->l;
	dt_type *t = l->kind == N_TYPE ? l->ctype : (l = dt_check(cc, l))->type;

	if (l->flags & NF_BITFIELD)
		dt_fail(cc, n->pos, D_SIZEOF_BITFIELD, "cannot apply sizeof to a bit-field");
	if (dt_type_is_void(t) || dt_type_is_function(t) || dt_type_is_dyn(t) ||
	    (!dt_type_is_complete(cc->types, t) && !dt_type_is_sou(dt_type_resolve(t))))
		dt_fail(cc, n->pos, D_SIZEOF_TYPE, "cannot apply sizeof to an operand of type %s",
			dt_tname(cc, t));
	if (!dt_type_is_complete(cc->types, t))
		dt_fail(cc, n->pos, D_SIZEOF_TYPE, "cannot apply sizeof to incomplete type %s",
			dt_tname(cc, t));
	return dt_node_int(cc, n->pos,
			   l->kind == N_STRING ? l->len + 1 : dt_type_size(cc->types, t),
			   dt_intrinsics(cc->types)->size);
}

static dt_node *string_of(dt_compiler *cc, dt_node *n)
{
	dt_type *t = n->l->type;

	if (!dt_type_is_string_compat(t) && !dt_type_is_pointer(t) && !dt_type_is_integer(t))
		dt_fail(cc, n->pos, D_STRINGOF_TYPE,
			"cannot apply stringof to a value of type \"%s\"", dt_what(cc, n->l));
	return dt_to_string(cc, n->l);
}

static dt_node *negate(dt_compiler *cc, dt_node *n)
{
	dt_type *t = n->l->type;

	if (!dt_type_is_integer(t))
		dt_fail(cc, n->pos, n->op == '~' ? D_OP_INT : D_OP_ARITH,
			"operator %s requires an operand of %s type, not \"%s\"", dt_op_name(n->op),
			n->op == '~' ? "integral" : "arithmetic", dt_what(cc, n->l));
	n->type = own_type(cc, n->l);
	n->l = dt_coerce(cc, n->l, n->type);
	if (n->op == '+')
		return n->l;
	return dt_fold1(cc, n);
}

/*
 * (pid123`a.out`struct foo *)x is a pointer to user memory, since a number can mean nothing else.
 * But if x is a pointer, it is known where that points: to our own memory if x is a copyin().
 */
static dt_type *same_memory(dt_compiler *cc, const dt_node *x, dt_type *to)
{
	dt_type *from = dt_type_resolve(x->type), *t = dt_type_resolve(to);
	bool ours =
	    dt_type_is_pointer(from) ? !from->userland : (x->flags & (NF_REF | NF_USER)) == NF_REF;

	return ours && dt_type_is_pointer(t) ? dt_type_pointer(cc->types, t->ref) : to;
}

static dt_node *returned(dt_compiler *cc, dt_node *n)
{
	dt_node *v = dt_convert(cc, n->l, n->ctype);

	if (!v)
		dt_fail(cc, n->pos, D_OP_INCOMPAT, "the function returns %s, but this is %s", dt_tname(cc, n->ctype),
			dt_what(cc, n->l));
	return v;
}

dt_node *dt_check_op1(dt_compiler *cc, dt_node *n)
{
	dt_node *object;

	if (n->op == T_SIZEOF)
		return size_of(cc, n);
	if (dt_is_step_op(n->op))
		return dt_check_incdec(cc, n);
	n->l = dt_check(cc, n->l);
	if (n->op == '*' && (object = dt_xlate_deref(n->l)))
		return object;
	if (dt_type_is_dyn(n->l->type) && n->op != '(')
		dt_fail(cc, n->pos, D_OP_DYN,
			"operator %s cannot be applied to a translated object", dt_op_name(n->op));
	n->attr = n->l->attr;
	switch (n->op) {
	case '*': return dt_check_deref(cc, n);
	case '&': return address_of(cc, n);
	case T_STRINGOF: return string_of(cc, n);
	case '(':
		if (n->flags & NF_RETURNED)
			return returned(cc, n);
		if (n->ctype->module && strcmp(n->ctype->module, "C") &&
		    strcmp(n->ctype->module, "D"))
			dt_use_attr(cc, n->pos,
				    (dt_attr){DT_STAB_PRIVATE, DT_STAB_PRIVATE, DT_CLASS_UNKNOWN},
				    dt_tname(cc, n->ctype));
		return dt_cast(cc, n->l,
			       n->flags & NF_IMPLIED_USER ? same_memory(cc, n->l, n->ctype)
							  : n->ctype);
	case '!':
		need_scalar(cc, n, n->l);
		n->type = dt_intrinsics(cc->types)->int_;
		return dt_fold1(cc, n);
	default: return negate(cc, n);
	}
}

/* ---- arithmetic ---- */

static dt_node *integer_op(dt_compiler *cc, dt_node *n)
{
	bool arithmetic = n->op == '*' || n->op == '/' || n->op == '+' || n->op == '-';
	bool shift = n->op == T_SHL || n->op == T_SHR;

	need_integers(cc, n, n->l, n->r, arithmetic ? D_OP_ARITH : D_OP_INT);
	if ((n->op == '/' || n->op == '%') && dt_is_null(n->r) && !cc->calls) /* f(0) may not get there */
		dt_fail(cc, n->pos, D_DIV_ZERO, "expression contains division by zero");
	if (shift) {
		n->type = own_type(cc, n->l);
		n->l = dt_coerce(cc, n->l, n->type);
		n->r = dt_coerce(cc, n->r, dt_promoted(cc, n->r));
	} else {
		n->type = dt_arith_type(cc, n->l, n->r);
		n->l = dt_coerce(cc, n->l, n->type);
		n->r = dt_coerce(cc, n->r, n->type);
	}
	return dt_fold2(cc, n);
}

static bool is_address(const dt_type *t)
{
	return dt_type_is_pointer(t) || dt_type_is_array(t) || dt_type_is_string(t);
}

static dt_type *pointer_operand(dt_compiler *cc, dt_node *n, dt_type *t)
{
	dt_type *p = dt_type_resolve(dt_decay(cc, t));

	if (dt_type_is_void(p->ref) || dt_type_is_function(p->ref) ||
	    dt_type_size(cc->types, p->ref) == 0)
		dt_fail(
		    cc, n->pos, D_OP_INCOMPAT,
		    "operator %s cannot be applied to a pointer to void, function or incomplete "
		    "type: cast it first",
		    dt_op_name(n->op));
	return dt_decay(cc, t);
}

static dt_node *additive(dt_compiler *cc, dt_node *n)
{
	bool lp = is_address(n->l->type), rp = is_address(n->r->type);
	dt_type *t;

	if (!lp && !rp && (!dt_type_is_integer(n->l->type) || !dt_type_is_integer(n->r->type)))
		incompatible(cc, n, n->l, n->r);
	if (!lp && !rp)
		return integer_op(cc, n);
	if (lp && rp) {
		dt_type *lt = dt_decay(cc, n->l->type), *rt = dt_decay(cc, n->r->type);
		if (n->op == '+' || !dt_type_compatible(cc->types, lt, rt))
			incompatible(cc, n, n->l, n->r);
		n->l = dt_coerce(cc, n->l, pointer_operand(cc, n, lt));
		n->r = dt_coerce(cc, n->r, pointer_operand(cc, n, rt));
		n->type = dt_intrinsics(cc->types)->ptrdiff;
		return n;
	}
	if (!dt_type_is_integer(lp ? n->r->type : n->l->type) || (rp && n->op == '-'))
		incompatible(cc, n, n->l, n->r);
	if (rp) { /* integer + pointer */
		dt_node *swap = n->l;
		n->l = n->r;
		n->r = swap;
	}
	if (dt_type_is_string(n->l->type) &&
	    !(n->l->flags & NF_USER)) { /* the string from there on */
		n->l = dt_coerce(cc, n->l, dt_intrinsics(cc->types)->char_ptr);
		n->type = n->l->type;
		n->flags |= NF_CHECKED;
		return dt_to_string(cc, n);
	}
	t = pointer_operand(cc, n, n->l->type);
	if ((n->l->flags & NF_REF) && (n->l->flags & NF_USER))
		t = dt_type_userland(cc->types, t);
	n->l = dt_coerce(cc, n->l, t);
	n->type = t;
	return n;
}

/* Arrays of 0 or 1 elements are used at the end of structs of variable length. */
static void check_bounds(dt_compiler *cc, const dt_node *n)
{
	const dt_type *t = dt_type_resolve(n->l->type);
	int64_t i;

	if (dt_type_is_array(t) && t->nelems > 1 && dt_node_is_const_int(n->r, &i) && i >= 0 &&
	    (uint64_t)i >= t->nelems)
		dt_fail(cc, n->pos, D_ARR_BOUNDS,
			"index %lld is outside of the array: the maximum is %llu", (long long)i,
			(unsigned long long)t->nelems - 1);
}

dt_node *dt_check_index(dt_compiler *cc, dt_node *n)
{
	dt_node *l = n->l;

	if (!is_address(l->type))
		dt_fail(cc, n->pos, D_OP_PTR, "a subscript needs an array or pointer, not \"%s\"",
			dt_tname(cc, l->type));
	if (!dt_type_is_integer(n->r->type))
		dt_fail(cc, n->pos, D_OP_INT, "a subscript must be an integer, not \"%s\"",
			dt_tname(cc, n->r->type));
	check_bounds(cc, n);
	if (dt_type_is_string(l->type))
		l = n->l = dt_coerce(cc, l, dt_intrinsics(cc->types)->char_ptr);
	pointer_operand(cc, n, l->type);
	dt_check_deref(cc, n); /* sets type and flags from n->l */
	if ((l->flags & NF_REF) && !(l->flags & NF_WRITABLE))
		n->flags &= ~(uint32_t)NF_WRITABLE;
	n->flags |= NF_CHECKED;
	return n;
}

/* ---- comparison ---- */

/* enum == NAME: the name may be one of the enum's own. */
static void enum_operand(dt_compiler *cc, dt_node *n)
{
	dt_type *t = dt_type_resolve(n->l->type);
	dt_node *r = n->r;

	if (t->kind != DT_K_ENUM || r->kind != N_IDENT || r->scope != 0 || (r->flags & NF_CHECKED))
		return;
	dt_type_complete(cc->types, t);
	for (uint32_t i = 0; i < t->nenumerators; i++) {
		if (strcmp(t->enumerators[i].name, r->name) != 0)
			continue;
		if (dt_ident_find(cc, r->name, 0))
			dt_fail(cc, r->pos, D_IDENT_AMBIG,
				"ambiguous use of operator %s: %s is both a variable and a member "
				"of %s",
				dt_op_name(n->op), r->name, dt_tname(cc, t));
		n->r = dt_node_int(cc, r->pos, (uint64_t)t->enumerators[i].value, n->l->type);
		return;
	}
}

/* Two pointers, or a pointer and a constant 0. */
static bool pointers_compare(dt_compiler *cc, dt_node *n)
{
	dt_type *l = n->l->type, *r = n->r->type;
	bool lp = is_address(l) || dt_type_is_function(l),
	     rp = is_address(r) || dt_type_is_function(r);

	if (!(lp && (rp || dt_is_null(n->r))) && !(rp && dt_is_null(n->l)))
		return false;
	if (lp && rp) {
		dt_type *a = dt_type_resolve(dt_decay(cc, l)),
			*b = dt_type_resolve(dt_decay(cc, r));
		if (a->userland != b->userland || !dt_type_compatible(cc->types, a, b))
			return false;
	}
	n->l = dt_coerce(cc, n->l, lp ? dt_decay(cc, l) : dt_decay(cc, r));
	n->r = dt_coerce(cc, n->r, rp ? dt_decay(cc, r) : dt_decay(cc, l));
	return true;
}

static dt_node *comparison(dt_compiler *cc, dt_node *n)
{
	dt_type *l, *r;

	n->l = dt_check(cc, n->l);
	enum_operand(cc, n);
	n->r = dt_check(cc, n->r);
	l = n->l->type;
	r = n->r->type;
	if (dt_type_is_dyn(l) || dt_type_is_dyn(r))
		dt_fail(cc, n->pos, D_OP_DYN,
			"translated objects cannot be compared; compare their members");
	n->type = dt_intrinsics(cc->types)->int_;
	if (dt_type_is_integer(l) && dt_type_is_integer(r)) {
		unify_integers(cc, n);
		return dt_fold2(cc, n);
	}
	if ((dt_type_is_string(l) || dt_type_is_string(r)) && dt_type_is_string_compat(l) &&
	    dt_type_is_string_compat(r)) {
		n->l = dt_to_string(cc, n->l);
		n->r = dt_to_string(cc, n->r);
		return n;
	}
	if ((dt_type_is_string(l) && dt_is_null(n->r)) ||
	    (dt_type_is_string(r) && dt_is_null(n->l)))
		return n; /* compared as strings: NULL and "" are equal */
	if (!pointers_compare(cc, n))
		incompatible(cc, n, n->l, n->r);
	return n;
}

static dt_node *logical(dt_compiler *cc, dt_node *n)
{
	n->l = dt_check(cc, n->l);
	n->r = dt_check(cc, n->r);
	need_scalar(cc, n, n->l);
	need_scalar(cc, n, n->r);
	n->type = dt_intrinsics(cc->types)->int_;
	return dt_fold2(cc, n);
}

static dt_node *comma(dt_compiler *cc, dt_node *n)
{
	n->l = dt_check(cc, n->l);
	n->r = dt_check(cc, n->r);
	for (int i = 0; i < 2; i++) {
		refuse_dynamic(cc, i == 0 ? n->l : n->r, ",");
		refuse_action(cc, i == 0 ? n->l : n->r, ",");
	}
	n->flags |= n->r->flags & NF_USER;
	dt_set_object(n, n->r->type);
	return n;
}

static dt_node *arithmetic(dt_compiler *cc, dt_node *n)
{
	n->l = dt_check(cc, n->l);
	n->r = dt_check(cc, n->r);
	if (dt_type_is_dyn(n->l->type) || dt_type_is_dyn(n->r->type))
		dt_fail(cc, n->pos, D_OP_DYN,
			"operator %s cannot be applied to a translated object", dt_op_name(n->op));
	if (n->op == '[')
		return dt_check_index(cc, n);
	if (n->op == '+' || n->op == '-')
		return additive(cc, n);
	return integer_op(cc, n);
}

dt_node *dt_check_op2(dt_compiler *cc, dt_node *n)
{
	if (dt_is_assign_op(n->op))
		return dt_check_assign(cc, n);
	switch (n->op) {
	case '.':
	case T_ARROW: return dt_check_member(cc, n);
	case T_EQ:
	case T_NE:
	case '<':
	case T_LE:
	case '>':
	case T_GE: return comparison(cc, n);
	case T_ANDAND:
	case T_OROR:
	case T_XORXOR: return logical(cc, n);
	case ',': return comma(cc, n);
	case T_OTHERWISE: return dt_check_otherwise(cc, n);
	default: return arithmetic(cc, n);
	}
}

/* ---- c ? l : r ---- */

static void unify_arms(dt_compiler *cc, dt_node *n)
{
	dt_type *l = n->l->type, *r = n->r->type;
	dt_node *fit;

	if (dt_type_is_integer(l) && dt_type_is_integer(r)) {
		unify_integers(cc, n);
	} else if (dt_type_is_string(l) || dt_type_is_string(r)) {
		dt_type *string = dt_intrinsics(cc->types)->string;
		dt_node *a = dt_convert(cc, n->l, string), *b = dt_convert(cc, n->r, string);
		if (!a || !b)
			incompatible(cc, n, n->l, n->r);
		n->l = a;
		n->r = b;
	} else if (dt_type_resolve(l) == dt_type_resolve(r) && !dt_type_is_scalar(l)) {
		;
	} else if ((fit = dt_convert(cc, n->r, dt_decay(cc, l)))) {
		n->l = dt_coerce(cc, n->l, dt_decay(cc, l));
		n->r = fit;
	} else if ((fit = dt_convert(cc, n->l, dt_decay(cc, r)))) {
		n->r = dt_coerce(cc, n->r, dt_decay(cc, r));
		n->l = fit;
	} else {
		incompatible(cc, n, n->l, n->r);
	}
	dt_set_object(n, n->l->type);
}

dt_node *dt_constant_choice(dt_compiler *cc, dt_node *n)
{
	while (n->kind == N_OP3) {
		n->c = dt_check(cc, n->c);
		if (n->c->kind != N_INT)
			break;
		n = n->c->ival ? n->l : n->r;
	}
	return n;
}

/* Numbers and scalar variables, and arithmetic with them that is always valid. */
static bool is_plain(dt_compiler *cc, const dt_node *n)
{
	dt_ident *id;

	switch (n->kind) {
	case N_INT: return true;
	case N_IDENT:
		id = dt_ident_find(cc, n->name, n->scope);
		return id && id->kind == ID_SCALAR && id->type && dt_type_is_integer(id->type) &&
		       !(n->flags & NF_HAS_KEYS);
	case N_OP1:
		return (n->op == '-' || n->op == '~' || n->op == '!' || n->op == '+' ||
			(n->op == '(' && dt_type_is_integer(n->ctype))) &&
		       is_plain(cc, n->l);
	case N_OP2:
		if ((n->op == '/' || n->op == '%') && (n->r->kind != N_INT || n->r->ival == 0))
			return false;
		return n->op != '[' && n->op != '.' && n->op != T_ARROW &&
		       !dt_is_assign_op(n->op) && is_plain(cc, n->l) && is_plain(cc, n->r);
	case N_OP3: return is_plain(cc, n->c) && is_plain(cc, n->l) && is_plain(cc, n->r);
	default: return false;
	}
}

/* The branch that is not taken may be anything, even invalid. But if both are numbers, the result
 * has their common type, as it would if the choice were made at run time. */
static dt_node *choose(dt_compiler *cc, dt_node *n)
{
	dt_node **taken = n->c->ival ? &n->l : &n->r, *other = n->c->ival ? n->r : n->l;

	*taken = dt_check(cc, *taken);
	if (!dt_type_is_integer((*taken)->type) || !is_plain(cc, other))
		return *taken;
	if (other == n->l)
		n->l = dt_check(cc, n->l);
	else
		n->r = dt_check(cc, n->r);
	unify_integers(cc, n);
	return *taken;
}

dt_node *dt_check_op3(dt_compiler *cc, dt_node *n)
{
	n->c = dt_check(cc, n->c);
	if (n->c->kind == N_INT)
		return choose(cc, n);
	n->l = dt_check(cc, n->l);
	n->r = dt_check(cc, n->r);
	need_scalar(cc, n, n->c);
	refuse_dynamic(cc, n->l, "?:");
	refuse_dynamic(cc, n->r, "?:");
	unify_arms(cc, n);
	refuse_action(cc, n->l, "?:");
	refuse_action(cc, n->r, "?:");
	return n;
}
