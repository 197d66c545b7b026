/*
 * check_convert: casts, and the conversions that assignment, calls and comparisons imply.
 *
 * A string is an address of bytes that end in NUL. Values that can be used as a string (char
 * pointers, char arrays) become one with a T_STRINGOF node, which costs nothing at run time; if the
 * bytes are in user memory it becomes a copyinstr() call instead, so that a user string can be
 * compared and traced like any other.
 */
#include "lang/check.h"

bool dt_is_null(const dt_node *n)
{
	return n->kind == N_INT && n->ival == 0;
}

dt_type *dt_decay(dt_compiler *cc, dt_type *t)
{
	dt_type *r = dt_type_resolve(t);

	if (dt_type_is_array(r))
		return dt_type_pointer(cc->types, r->ref);
	if (dt_type_is_function(r))
		return dt_type_pointer(cc->types, r);
	if (dt_type_is_string(r))
		return dt_intrinsics(cc->types)->char_ptr;
	return t;
}

void dt_set_object(dt_node *n, dt_type *t)
{
	n->type = t;
	if (dt_type_is_byref(t))
		n->flags |= NF_REF;
	else
		n->flags &= ~(uint32_t)NF_REF;
}

void dt_user_pointer_read(dt_compiler *cc, dt_node *n)
{
	if ((n->flags & NF_USER) && dt_type_is_pointer(n->type) &&
	    !dt_type_resolve(n->type)->userland)
		n->type = dt_type_userland(cc->types, n->type);
}

const char *dt_op_name(int op)
{
	static const struct {
		int op;
		const char *name;
	} names[] = {
	    {T_ARROW, "->"},	  {T_INC, "++"},
	    {T_DEC, "--"},	  {T_POSTINC, "++"},
	    {T_POSTDEC, "--"},	  {T_SHL, "<<"},
	    {T_SHR, ">>"},	  {T_LE, "<="},
	    {T_GE, ">="},	  {T_EQ, "=="},
	    {T_NE, "!="},	  {T_ANDAND, "&&"},
	    {T_XORXOR, "^^"},	  {T_OROR, "||"},
	    {T_ADD_EQ, "+="},	  {T_SUB_EQ, "-="},
	    {T_MUL_EQ, "*="},	  {T_DIV_EQ, "/="},
	    {T_MOD_EQ, "%="},	  {T_AND_EQ, "&="},
	    {T_XOR_EQ, "^="},	  {T_OR_EQ, "|="},
	    {T_SHL_EQ, "<<="},	  {T_SHR_EQ, ">>="},
	    {T_SIZEOF, "sizeof"}, {T_STRINGOF, "stringof"},
	    {'+', "+"},		  {'-', "-"},
	    {'*', "*"},		  {'/', "/"},
	    {'%', "%"},		  {'&', "&"},
	    {'|', "|"},		  {'^', "^"},
	    {'~', "~"},		  {'!', "!"},
	    {'<', "<"},		  {'>', ">"},
	    {'=', "="},		  {',', ","},
	    {'.', "."},		  {'[', "[ ]"},
	    {'(', "cast"},
	};

	for (size_t i = 0; i < DT_NELEM(names); i++)
		if (names[i].op == op)
			return names[i].name;
	return "?";
}

static bool is_user(const dt_node *n)
{
	const dt_type *t = dt_type_resolve(n->type);

	return (n->flags & NF_REF) ? (n->flags & NF_USER) != 0
				   : dt_type_is_pointer(t) && t->userland;
}

static dt_node *make_cast(dt_compiler *cc, dt_node *n, dt_type *to)
{
	dt_node *cast;

	if (n->kind == N_INT && dt_type_is_scalar(to) && !dt_type_is_float(to)) {
		cast = dt_node_int(cc, n->pos, dt_fit(cc, n->ival, to), to);
	} else {
		cast = dt_node_op1(cc, '(', n);
		cast->ctype = to;
		cast->flags |= n->flags & NF_USER;
		dt_set_object(cast, to);
	}
	cast->flags |= NF_CHECKED;
	cast->attr = n->attr;
	return cast;
}

dt_node *dt_coerce(dt_compiler *cc, dt_node *n, dt_type *to)
{
	return n->type == to ? n : make_cast(cc, n, to);
}

/* copyinstr(n) */
static dt_node *copy_in(dt_compiler *cc, dt_node *n)
{
	dt_node *call = dt_node_new(cc, N_FUNC, n->pos);

	call->ident = dt_map_get(cc->shared->globals, "copyinstr");
	call->name = call->ident->name;
	call->args = dt_coerce(cc, n, dt_intrinsics(cc->types)->uintptr);
	call->args->next = NULL;
	call->type = dt_intrinsics(cc->types)->string;
	call->flags = NF_REF | NF_CHECKED;
	return call;
}

dt_node *dt_to_string(dt_compiler *cc, dt_node *n)
{
	dt_type *string = dt_intrinsics(cc->types)->string;
	dt_node *s;

	if (dt_node_is_string(n) && !(n->flags & NF_USER))
		return n;
	if (is_user(n))
		return copy_in(cc, n);
	s = dt_node_op1(cc, T_STRINGOF, n);
	s->type = string;
	s->flags = NF_REF | NF_CHECKED;
	s->attr = n->attr;
	return s;
}

/* Pointers are compatible if they point to the same type in the same memory, or one is void *. */
bool dt_pointers_fit(dt_compiler *cc, dt_type *a, dt_type *b)
{
	dt_type *ra = dt_type_resolve(dt_decay(cc, a)), *rb = dt_type_resolve(dt_decay(cc, b));

	return ra->userland == rb->userland && dt_type_compatible(cc->types, ra, rb);
}

dt_node *dt_convert(dt_compiler *cc, dt_node *n, dt_type *to)
{
	dt_type *from = n->type;

	if (dt_type_is_dyn(from) || dt_type_is_void(from))
		return NULL;
	if (dt_type_is_string(to)) {
		if (dt_is_null(n))
			return dt_coerce(cc, n, to);
		return dt_type_is_string_compat(from) ? dt_to_string(cc, n) : NULL;
	}
	if (dt_type_is_pointer(to)) {
		if (dt_is_null(n) && !dt_type_is_pointer(from)) /* (int *)0 is an int * */
			return dt_coerce(cc, n, to);
		if (!dt_type_is_pointer(from) && !dt_type_is_array(from) &&
		    !dt_type_is_string(from) && !dt_type_is_function(from))
			return NULL;
		return dt_pointers_fit(cc, to, from) ? dt_coerce(cc, n, to) : NULL;
	}
	if (dt_type_is_float(to) || dt_type_is_float(from))
		return dt_type_equal(cc->types, to, from) ? n : NULL;
	if (dt_type_is_integer(to))
		return dt_type_is_integer(from) ? dt_coerce(cc, n, to) : NULL;
	if (dt_type_is_byref(to) && dt_is_null(n))
		return dt_coerce(cc, n, to); /* frees a dynamic variable */
	return dt_type_compatible(cc->types, to, from) ? n : NULL;
}

static bool is_addressable(dt_type *t)
{
	return dt_type_is_pointer(t) || dt_type_is_array(t) || dt_type_is_string(t) ||
	       dt_type_is_function(t);
}

static bool cast_is_valid(dt_compiler *cc, dt_node *n, dt_type *to)
{
	dt_type *from = n->type;

	if (dt_type_is_void(to))
		return true;
	if (dt_type_is_dyn(from) || dt_type_is_void(from))
		return false;
	if (dt_type_is_float(to) || dt_type_is_float(from))
		return dt_type_equal(cc->types, to, from);
	if (dt_type_is_string(to))
		return dt_type_is_string_compat(from) || dt_type_is_pointer(from) ||
		       dt_type_is_integer(from);
	if (dt_type_is_scalar(to))
		return dt_type_is_scalar(from) || is_addressable(from);
	return dt_type_compatible(cc->types, to, from);
}

dt_node *dt_cast(dt_compiler *cc, dt_node *n, dt_type *to)
{
	if (n->kind == N_XLATE && dt_type_compatible(cc->types, n->ctype, to))
		return n;
	if (!cast_is_valid(cc, n, to))
		dt_fail(cc, n->pos, D_CAST_INVAL, "invalid cast expression: \"%s\" to \"%s\"",
			dt_what(cc, n), dt_tname(cc, to));
	if (dt_type_is_string(to))
		return dt_to_string(cc, n);
	if (dt_type_is_void(to))
		return make_cast(cc, n, to);
	if (dt_type_is_integer(to)) /* even to the same type: (int)(a + b) truncates the sum */
		return make_cast(cc, n, to);
	return dt_coerce(cc, n, to);
}
