/*
 * declarator: the second half of a declaration: names, pointers, arrays, functions, keys.
 *
 *   declarator := { "*" qualifier } ( name | "(" declarator ")" ) { "[" ... "]" | "(" params ")" }
 *
 * Suffixes bind tighter than the stars, so a declarator appends what is inside the parentheses,
 * then the suffixes, then the stars: the list runs from the name outwards (see decl.h).
 *
 * D adds one suffix to C's: [type, type] are the keys of an associative array, or the parameters
 * of an inline. It must come right after the name.
 */
#include <limits.h>

#include "lang/decl.h"

/* ---- parameters ---- */

static bool is_void_list(const dt_compiler *cc, const dt_specs *s, const dt_declarator *d,
			 int close)
{
	return dt_type_is_void(s->type) && d->derive.n == 0 && !d->name &&
	       cc->lex.tok.kind == close;
}

static void check_param(dt_compiler *cc, const dt_param *p, dt_pos pos, int close)
{
	if (dt_type_is_void(p->type) && close == ')' && p->name)
		dt_fail(cc, pos, D_DECL_PROTO_NAME, "parameter \"%s\" cannot be void", p->name);
	if ((dt_type_is_void(p->type) && close != ')') || dt_type_is_dyn(p->type))
		dt_fail(cc, pos, D_DECL_PROTO_TYPE, "a key or parameter cannot have the type %s",
			dt_tname(cc, p->type));
}

/* In a prototype an array is a pointer to its element and a function a pointer to it. */
static void adjust_param(dt_declarator *d)
{
	if (d->derive.n > 0 && d->derive.v[0].kind == DERIVE_ARRAY)
		d->derive.v[0] = (dt_derive){.kind = DERIVE_POINTER, .pos = d->derive.v[0].pos};
}

/* One parameter; false when it was the "void" of an empty list. */
static bool parse_param(dt_compiler *cc, int close, unsigned rules, bool first, dt_param *out)
{
	dt_specs s;
	dt_declarator d = {0};

	dt_parse_specs(cc, DECL_PARAM, &s);
	d.pos = cc->lex.tok.pos;
	dt_parse_declarator(cc, DECL_PARAM, NAME_OPTIONAL, &d);
	if (d.derive.n > 0 && d.derive.v[0].kind == DERIVE_KEYS)
		dt_fail(cc, d.pos, D_DECL_PROTO_TYPE,
			"a key or parameter cannot be an associative array");
	if (first && rules & PARAM_VOID && is_void_list(cc, &s, &d, close))
		return false;
	if (close == ')')
		adjust_param(&d);
	out->name = d.name;
	out->type = dt_declared_type(cc, &s, &d, 0);
	if (dt_type_is_function(out->type))
		out->type = dt_type_pointer(cc->types, out->type);
	check_param(cc, out, s.pos, close);
	return true;
}

void dt_parse_params(dt_compiler *cc, int close, unsigned rules, dt_derive *out)
{
	DT_VEC(dt_param) list = {0};
	dt_param p;

	dt_depth_enter(cc, cc->lex.tok.pos);
	for (bool first = true;; first = false) {
		if (cc->lex.tok.kind == T_ELLIPSIS) {
			if (!(rules & PARAM_VARARGS))
				dt_fail(cc, cc->lex.tok.pos, D_DECL_PROTO_VARARGS,
					"... is not allowed in this list");
			out->varargs = true;
			dt_lex_next(cc);
			break;
		}
		if (!parse_param(cc, close, rules, first, &p))
			break;
		*dt_vec_add(&list, cc->arena) = p;
		if (cc->lex.tok.kind != ',')
			break;
		dt_lex_next(cc);
	}
	if (cc->lex.tok.kind != close)
		dt_syntax(cc, "syntax error: expected %c", close);
	for (uint32_t i = 0; i < list.n; i++)
		if (dt_type_is_void(list.v[i].type))
			dt_fail(cc, out->pos, D_DECL_PROTO_VOID, "void must be the only parameter");
	out->params = list.v;
	out->nparams = list.n;
	dt_depth_leave(cc);
}

/* ---- suffixes ---- */

static dt_derive *add_derive(dt_compiler *cc, dt_declarator *d, int kind)
{
	dt_derive *x;

	if (d->derive.n >= DT_MAX_DEPTH)
		dt_fail(cc, cc->lex.tok.pos, D_SYNTAX, "declaration is nested too deeply");
	x = dt_vec_add(&d->derive, cc->arena);
	x->kind = kind;
	x->pos = cc->lex.tok.pos;
	return x;
}

static void parse_function(dt_compiler *cc, dt_declarator *d)
{
	dt_derive *f = add_derive(cc, d, DERIVE_FUNCTION);

	dt_lex_next(cc); /* ( */
	if (cc->lex.tok.kind == ')')
		f->varargs = true; /* "()": unspecified */
	else
		dt_parse_params(cc, ')', PARAM_VARARGS | PARAM_VOID, f);
	dt_lex_next(cc);
}

/* After '[': keys begin with a type, a dimension does not. An unknown name could be a kernel type. */
static bool at_keys(dt_compiler *cc)
{
	const dt_token *t = &cc->lex.tok;
	int64_t value;
	dt_type *type;

	switch (t->kind) {
	case T_ELLIPSIS:
	case T_AUTO:
	case T_EXTERN:
	case T_REGISTER:
	case T_STATIC:
	case T_TYPEDEF: return true; /* and will be an error */
	default: break;
	}
	if (dt_starts_type(cc))
		return true;
	return t->kind == T_IDENT && !dt_ident_find(cc, t->text, 0) &&
	       !dt_enumerator_lookup(cc->types, t->text, false, &type, &value) &&
	       dt_named_type(cc, t->module, t->text, true);
}

static void parse_dimension(dt_compiler *cc, dt_derive *a)
{
	dt_pos pos = cc->lex.tok.pos;
	int64_t n = 0;
	dt_type *type = NULL;
	dt_node *e;

	cc->nlinks = 0;
	e = dt_parse_assign(cc);
	if (!dt_check_const(cc, e, &n, &type))
		dt_fail(
		    cc, pos, D_DECL_ARRSUB,
		    "an array dimension must be a positive integer constant, or a list of types");
	if ((n < 0 && !dt_type_is_signed(type)) || n > INT_MAX)
		dt_fail(cc, pos, D_DECL_ARRBIG, "array dimension is larger than %d", INT_MAX);
	if (n < 0 || (n == 0 && !dt_lex_included(cc)))
		dt_fail(cc, pos, D_DECL_ARRSUB, "an array dimension must be positive");
	a->nelems = (uint64_t)n;
}

static void parse_array(dt_compiler *cc, enum dt_decl_place place, dt_declarator *d)
{
	dt_derive *a = add_derive(cc, d, DERIVE_ARRAY);

	dt_lex_next(cc); /* [ */
	while (place == DECL_PARAM &&
	       (cc->lex.tok.kind == T_STATIC || cc->lex.tok.kind == T_CONST ||
		cc->lex.tok.kind == T_RESTRICT))
		dt_lex_next(cc); /* C99: char buf[restrict static 3] */
	if (cc->lex.tok.kind == ']') {
		a->no_size = true;
	} else if (place == DECL_PARAM && dt_lex_included(cc)) {
		cc->nlinks = 0;
		dt_parse_assign(cc); /* C99: int v[n], with n another parameter; it is a pointer */
		a->no_size = true;
	} else if ((place == DECL_EXTERNAL || (place == DECL_PARAM && !dt_lex_included(cc))) &&
		   at_keys(cc)) {
		if (d->derive.n > 1)
			dt_fail(cc, a->pos, D_DECL_ARRSUB,
				"the keys of an associative array must follow its name");
		a->kind = DERIVE_KEYS;
		dt_parse_params(cc, ']', 0, a);
	} else {
		parse_dimension(cc, a);
	}
	dt_lex_expect(cc, ']', "]");
}

/* ---- the declarator ---- */

/* Is the '(' here around a declarator, rather than the parameters of a function without a name? */
static bool at_inner_declarator(dt_compiler *cc, enum dt_name_rule rule)
{
	const dt_token *t = dt_lex_peek(cc, 0);

	if (rule == NAME_REQUIRED || t->kind == '*' || t->kind == '(' || t->kind == '[')
		return true;
	return t->kind == T_IDENT && rule == NAME_OPTIONAL &&
	       !dt_named_type(cc, t->module, t->text, false);
}

bool dt_is_d_keyword(int token)
{
	switch (token) {
	case T_COUNTER:
	case T_IMPORT:
	case T_OFFSETOF:
	case T_PROBE:
	case T_PROVIDER:
	case T_SELF:
	case T_KW_STRING:
	case T_STRINGOF:
	case T_THIS:
	case T_TRANSLATOR:
	case T_USERLAND:
	case T_XLATE: return true;
	default: return false;
	}
}

/* Words reserved in D but not in C may be names of members and parameters, and in headers. */
static bool at_name(const dt_compiler *cc, enum dt_decl_place place)
{
	if (cc->lex.tok.kind == T_IDENT)
		return true;
	return dt_is_d_keyword(cc->lex.tok.kind) &&
	       (place == DECL_MEMBER || place == DECL_PARAM || dt_lex_included(cc));
}

static void parse_name(dt_compiler *cc, enum dt_decl_place place, dt_declarator *d)
{
	if (cc->lex.tok.module)
		dt_fail(cc, cc->lex.tok.pos, D_DECL_SCOPE,
			"a declared name cannot have a module: %s`%s", cc->lex.tok.module,
			cc->lex.tok.text);
	if (!cc->module && strstr(cc->lex.tok.text, "::"))
		dt_fail(cc, cc->lex.tok.pos, D_DECL_SCOPE, "%s belongs to its module: it cannot be declared here",
			cc->lex.tok.text);
	d->name = place == DECL_MEMBER ? dt_module_bare(cc, cc->lex.tok.text) : cc->lex.tok.text;
	d->pos = cc->lex.tok.pos;
	dt_lex_next(cc);
}

/* Stars with their qualifiers, kept until the suffixes are read. */
static void parse_stars(dt_compiler *cc, dt_declarator *stars)
{
	while (cc->lex.tok.kind == '*') {
		dt_derive *p = add_derive(cc, stars, DERIVE_POINTER);
		for (bool more = true; more;) {
			dt_lex_next(cc);
			switch (cc->lex.tok.kind) {
			case T_CONST: p->is_const = true; break;
			case T_VOLATILE: p->is_volatile = true; break;
			case T_RESTRICT: p->is_restrict = true; break;
			case T_USERLAND: p->userland = true; break;
			default: more = false;
			}
		}
	}
}

void dt_parse_declarator(dt_compiler *cc, enum dt_decl_place place, enum dt_name_rule rule,
			 dt_declarator *d)
{
	dt_declarator stars = {0};

	dt_depth_enter(cc, cc->lex.tok.pos);
	parse_stars(cc, &stars);
	if (cc->lex.tok.kind == '(' && at_inner_declarator(cc, rule)) {
		dt_lex_next(cc);
		dt_parse_declarator(cc, place, rule, d);
		dt_lex_expect(cc, ')', ")");
	} else if (rule != NAME_NONE && at_name(cc, place)) {
		parse_name(cc, place, d);
	} else if (rule == NAME_REQUIRED) {
		dt_syntax(cc, "syntax error: expected a name");
	}
	for (;;) {
		if (cc->lex.tok.kind == '[')
			parse_array(cc, place, d);
		else if (cc->lex.tok.kind == '(')
			parse_function(cc, d);
		else
			break;
	}
	for (uint32_t i = stars.derive.n; i-- > 0;)
		*add_derive(cc, d, DERIVE_POINTER) = stars.derive.v[i];
	dt_depth_leave(cc);
}

/* ---- the type ---- */

static dt_type *derive_pointer(dt_compiler *cc, dt_type *t, const dt_derive *x, bool userland)
{
	t = dt_type_pointer(cc->types, t);
	if (userland || x->userland)
		t = dt_type_userland(cc->types, t);
	if (x->is_const)
		t = dt_type_qualify(cc->types, t, DT_K_CONST);
	if (x->is_volatile)
		t = dt_type_qualify(cc->types, t, DT_K_VOLATILE);
	if (x->is_restrict)
		t = dt_type_qualify(cc->types, t, DT_K_RESTRICT);
	return t;
}

static dt_type *derive_array(dt_compiler *cc, dt_type *t, const dt_derive *x, const char *name)
{
	uint64_t size;

	if (dt_type_is_function(t))
		dt_fail(cc, x->pos, D_DECL_COMBO, "there are no arrays of functions");
	dt_check_object_type(cc, x->pos, name, t);
	size = dt_type_size(cc->types, t);
	if (size && x->nelems > INT_MAX / size)
		dt_fail(cc, x->pos, D_DECL_ARRBIG, "an array of %llu times %llu bytes is too large",
			(unsigned long long)x->nelems, (unsigned long long)size);
	return dt_type_array(cc->types, t, x->nelems);
}

static dt_type *derive_function(dt_compiler *cc, dt_type *t, const dt_derive *x)
{
	dt_type **params = dt_arena_alloc(cc->arena, (x->nparams + 1) * sizeof(*params));

	if (dt_type_is_function(t) || dt_type_is_array(t))
		dt_fail(cc, x->pos, D_DECL_COMBO, "a function cannot return %s",
			dt_type_is_array(t) ? "an array" : "a function");
	for (uint32_t i = 0; i < x->nparams; i++)
		params[i] = x->params[i].type;
	return dt_type_function(cc->types, t, params, x->nparams, x->varargs);
}

dt_type *dt_declared_type(dt_compiler *cc, const dt_specs *s, const dt_declarator *d, uint32_t from)
{
	dt_type *t = s->type;

	for (uint32_t i = d->derive.n; i-- > from;) {
		const dt_derive *x = &d->derive.v[i];
		switch (x->kind) {
		case DERIVE_POINTER:
			t = derive_pointer(cc, t, x, s->userland || s->in_process);
			break;
		case DERIVE_FUNCTION: t = derive_function(cc, t, x); break;
		case DERIVE_ARRAY:
			if (x->no_size && s->class_ != T_EXTERN && s->class_ != T_TYPEDEF &&
			    !dt_lex_included(cc))
				dt_fail(cc, x->pos, D_DECL_ARRNULL,
					"array \"%s\" needs a dimension", d->name ? d->name : "");
			t = derive_array(cc, t, x, d->name);
			break;
		case DERIVE_KEYS:
			dt_fail(cc, x->pos, D_DECL_ARRSUB,
				"only a variable can be an associative array");
		}
	}
	return t;
}

void dt_check_object_type(dt_compiler *cc, dt_pos pos, const char *name, dt_type *t)
{
	if (!name)
		name = "";
	if (dt_type_is_void(t))
		dt_fail(cc, pos, D_DECL_VOIDOBJ, "\"%s\" cannot be of type void", name);
	if (dt_type_is_dyn(t))
		dt_fail(cc, pos, D_DECL_DYNOBJ, "\"%s\" cannot be of dynamic type", name);
	if (dt_type_is_function(t))
		dt_fail(cc, pos, D_DECL_COMBO, "\"%s\" cannot be a function", name);
	if (!dt_type_is_complete(cc->types, t))
		dt_fail(cc, pos, D_DECL_INCOMPLETE, "\"%s\" has the incomplete type %s", name,
			dt_tname(cc, t));
}

/* type-name := specifiers abstract-declarator */
dt_type *dt_parse_cast_type(dt_compiler *cc, bool *implied)
{
	dt_specs s;
	dt_declarator d = {0};

	dt_parse_specs(cc, DECL_TYPE_NAME, &s);
	dt_parse_declarator(cc, DECL_TYPE_NAME, NAME_NONE, &d);
	*implied = s.in_process && !s.userland;
	return dt_declared_type(cc, &s, &d, 0);
}

dt_type *dt_parse_type_name(dt_compiler *cc)
{
	bool implied;

	return dt_parse_cast_type(cc, &implied);
}
