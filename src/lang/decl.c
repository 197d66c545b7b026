/*
 * decl: external declarations: variables, typedefs, tags, extern symbols and inlines.
 *
 * A declaration takes effect as soon as it is read. Parts of C headers that D does not need
 * (prototypes, functions with their bodies, initialised objects) are read and ignored.
 *
 * On return from each dt_parse_* here the current token is the last one of the declaration (';',
 * or '}' of a C function); the program loop steps over it in the right lexer mode.
 */
#include "lang/decl.h"

/* ---- comparing with existing declarations ---- */

_Noreturn static void redeclared(dt_compiler *cc, const dt_declarator *d, const dt_ident *old)
{
	if (old->flags & IDF_BUILTIN)
		dt_fail(cc, d->pos, D_DECL_IDRED, "\"%s\" is built in and cannot be declared",
			d->name);
	dt_fail(cc, d->pos, D_DECL_IDRED, "\"%s\" was declared differently before", d->name);
}

static bool same_type(dt_compiler *cc, dt_type *a, dt_type *b)
{
	return a == b || (a && b && dt_type_equal(cc->types, a, b));
}

static bool same_keys(dt_compiler *cc, const dt_ident *id, const dt_derive *keys)
{
	uint32_t n = keys ? keys->nparams : 0;

	if (id->nkeys != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same_type(cc, id->keys[i], keys->params[i].type))
			return false;
	return true;
}

/* A global must not have the name of a type or an enumerator. */
static void check_ordinary_name(dt_compiler *cc, const dt_declarator *d)
{
	int64_t value;
	dt_type *t;

	if (dt_named_type(cc, NULL, d->name, false))
		dt_fail(cc, d->pos, D_DECL_IDRED, "\"%s\" is the name of a type", d->name);
	if (dt_enumerator_lookup(cc->types, d->name, false, &t, &value))
		dt_fail(cc, d->pos, D_DECL_IDRED, "\"%s\" is an enumerator", d->name);
}

/* One of our libraries, loaded for another of its names, leaves a name as the program has declared it. */
bool dt_gives_way(dt_compiler *cc, const char *name)
{
	const dt_ident *id;
	int64_t value;
	dt_type *t;

	if (!cc->src || !cc->src->is_ours)
		return false;
	id = dt_ident_find(cc, name, 0);
	return id ? (id->flags & IDF_PROGRAM) != 0 : dt_enumerator_lookup(cc->types, name, false, &t, &value);
}

/* ---- variables ---- */

static void set_keys(dt_compiler *cc, dt_ident *id, const dt_derive *keys)
{
	id->nkeys = keys->nparams;
	id->keys = dt_arena_alloc(cc->arena, (keys->nparams + 1) * sizeof(*id->keys));
	for (uint32_t i = 0; i < keys->nparams; i++)
		id->keys[i] = keys->params[i].type;
	id->keys_known = id->keys_declared = true;
}

static void declare_variable(dt_compiler *cc, const dt_specs *s, const dt_declarator *d, dt_type *t)
{
	const dt_derive *keys =
	    d->derive.n > 0 && d->derive.v[0].kind == DERIVE_KEYS ? &d->derive.v[0] : NULL;
	enum dt_idkind kind = keys ? ID_ARRAY : ID_SCALAR;
	int scope = s->class_ == T_SELF || s->class_ == T_THIS ? s->class_ : 0;
	dt_ident *id = dt_ident_find(cc, d->name, scope);

	if (keys && scope == T_THIS)
		dt_fail(
		    cc, d->pos, D_DECL_LOCASSC,
		    "this->%s cannot be an associative array: clause-local variables have no keys",
		    d->name);
	dt_check_object_type(cc, d->pos, d->name, t);
	for (uint32_t i = 0; keys && i < keys->nparams; i++)
		dt_check_object_type(cc, keys->pos, d->name, keys->params[i].type);
	if (id) {
		if (id->kind != kind || !same_type(cc, id->type, t) || !same_keys(cc, id, keys))
			redeclared(cc, d, id);
		return;
	}
	if (!scope)
		check_ordinary_name(cc, d);
	id = dt_ident_new(cc, d->name, kind, scope, d->pos);
	id->type = t;
	id->flags |= IDF_TYPED;
	if (keys)
		set_keys(cc, id, keys);
}

/* extern T symbol; gives a type to a kernel symbol that has none. */
static void declare_extern(dt_compiler *cc, const dt_declarator *d, dt_type *t)
{
	dt_ident *id = dt_ident_find(cc, d->name, 0);

	if (id && dt_lex_included(cc))
		return; /* a header's object must not hide D's own names */
	if (id && (id->kind != ID_SYM || !same_type(cc, id->type, t)))
		redeclared(cc, d, id);
	if (id)
		return;
	if (dt_type_is_void(t))
		dt_check_object_type(cc, d->pos, d->name, t);
	if (!dt_lex_included(cc))
		check_ordinary_name(cc, d);
	id = dt_ident_new(cc, d->name, ID_SYM, 0, d->pos);
	id->type = t;
	id->flags |= IDF_TYPED;
}

/* ---- typedefs ---- */

/* These belong to the language, as in illumos: not even the same again. Other built-in names (pid_t ...) are in
 * headers there, and may be repeated. */
static bool is_language_name(const dt_type *t)
{
	static const char *const names[] = {"uchar_t",	  "ushort_t",	  "ulong_t", "longlong_t",
					    "u_longlong_t", "ptrdiff_t", "size_t",  "ssize_t"};

	if (t->module || !t->name)
		return false;
	for (size_t i = 0; i < DT_NELEM(names); i++)
		if (strcmp(t->name, names[i]) == 0)
			return true;
	return strncmp(t->name, "int", 3) == 0 || strncmp(t->name, "uint", 4) == 0;
}

static void declare_typedef(dt_compiler *cc, const dt_declarator *d, dt_type *t)
{
	bool included = dt_lex_included(cc);
	dt_type *old = dt_type_lookup(cc->types, "C", DT_NS_ORDINARY, d->name);
	dt_ident *id = included ? NULL : dt_ident_find(cc, d->name, 0);
	bool again; /* a second one, or of the language */

	if (dt_gives_way(cc, d->name))
		return;
	/* A header may redeclare what is built in, even differently; the program may not. */
	if (!old && !included)
		old = dt_type_lookup_local(cc->types, DT_NS_ORDINARY, d->name);
	again = !included && (dt_is_defined(cc, d->name) || (old && is_language_name(old)));
	if (old && !again && cc->src && cc->src->is_ours && dt_type_is_integer(old) && dt_type_is_integer(t))
		return; /* the program's own */
	if (old && (again || !same_type(cc, old, t)))
		dt_fail(cc, d->pos, included ? D_DECL_TYPERED : D_DECL_IDRED,
			"type \"%s\" was declared before as %s", d->name,
			dt_tname(cc, old->kind == DT_K_TYPEDEF ? old->ref : old));
	if (id)
		redeclared(cc, d, id);
	if (!included)
		dt_set_defined(cc, d->name);
	if (!old)
		dt_type_typedef(cc->types, dt_decl_container(cc), d->name, t);
}

/* ---- inlines ---- */

static void check_new_name(dt_compiler *cc, const dt_declarator *d)
{
	dt_ident *id = dt_ident_find(cc, d->name, 0);

	if (id)
		redeclared(cc, d, id);
	check_ordinary_name(cc, d);
}

/* inline T name = expr;   inline T name[T1 a, T2 b] = expr; */
static void declare_inline(dt_compiler *cc, const dt_specs *s, const dt_declarator *d)
{
	const dt_derive *keys =
	    d->derive.n > 0 && d->derive.v[0].kind == DERIVE_KEYS ? &d->derive.v[0] : NULL;
	dt_type *t = dt_declared_type(cc, s, d, keys ? 1 : 0);
	struct dt_inline *inl = dt_arena_alloc(cc->arena, sizeof(*inl));
	bool skip = dt_gives_way(cc, d->name);
	dt_ident *id;

	if (s->class_)
		dt_fail(cc, d->pos, D_DECL_CLASS, "an inline cannot have a storage class");
	dt_check_object_type(cc, d->pos, d->name, t);
	if (!skip)
		check_new_name(cc, d);
	for (uint32_t i = 0; keys && i < keys->nparams; i++)
		if (!keys->params[i].name)
			dt_fail(cc, keys->pos, D_DECL_PROTO_FORM,
				"parameter %u of inline \"%s\" needs a name", i + 1, d->name);
	inl->params = keys ? keys->params : NULL;
	inl->nparams = keys ? keys->nparams : 0;
	cc->formals = inl->params;
	cc->nformals = inl->nparams;
	cc->nlinks = 0;
	dt_lex_next(cc); /* = */
	inl->expr = dt_parse_assign(cc);
	cc->nformals = 0;
	if (skip)
		return;
	id = dt_ident_new(cc, d->name, ID_INLINE, 0, d->pos);
	id->inl = inl;
	id->type = t;
	id->flags |= IDF_TYPED;
	if (keys)
		set_keys(cc, id, keys);
	if (!cc->src || !cc->src->is_ours)
		dt_inline_check(cc, id);
}

/* ---- one declaration ---- */

static void declare(dt_compiler *cc, const dt_specs *s, const dt_declarator *d)
{
	bool has_keys = d->derive.n > 0 && d->derive.v[0].kind == DERIVE_KEYS;
	bool variable = s->class_ == 0 || s->class_ == T_SELF || s->class_ == T_THIS;
	dt_type *t = dt_declared_type(cc, s, d, has_keys && variable ? 1 : 0);

	if (s->class_ == T_TYPEDEF) {
		declare_typedef(cc, d, t);
		return;
	}
	if ((s->class_ == T_STATIC || s->class_ == T_AUTO || s->class_ == T_REGISTER) &&
	    !dt_lex_included(cc))
		dt_fail(cc, s->pos, D_DECL_BADCLASS, "D has no static, auto or register variables");
	if (d->derive.n > 0 && d->derive.v[0].kind == DERIVE_FUNCTION)
		return; /* a prototype: nothing to remember */
	if (s->class_ == T_EXTERN)
		declare_extern(cc, d, t);
	else if (variable)
		declare_variable(cc, s, d, t);
}

/* What C allows after a declarator and D does not; in headers it is skipped. True if that was the
 * end of the declaration. */
static bool skip_c_definition(dt_compiler *cc, const dt_specs *s, const dt_declarator *d)
{
	bool is_function = d->derive.n > 0 && d->derive.v[0].kind == DERIVE_FUNCTION;

	if (cc->lex.tok.kind == '{' && is_function) {
		if (!dt_lex_included(cc) && s->class_ != T_STATIC)
			dt_syntax(cc,
				  "a function begins with inline: inline %s %s(...) { ... }", dt_tname(cc, s->type),
				  d->name);
		dt_lex_skip_block(cc, '}');
		return true;
	}
	if (cc->lex.tok.kind == '=') {
		if (!dt_lex_included(cc))
			dt_syntax(cc,
				  "a variable cannot be given a value where it is declared; "
				  "assign to \"%s\" in a BEGIN clause",
				  d->name);
		dt_lex_skip_block(cc, ';');
		return true;
	}
	return false;
}

/* The ";" after the declarators. A type there makes it a declaration of two names. */
void dt_expect_end_of_names(dt_compiler *cc)
{
	const dt_token *t = &cc->lex.tok;

	if (t->kind == T_IDENT && dt_named_type(cc, t->module, t->text, true))
		dt_fail(cc, t->pos, D_DECL_IDENT,
			"old-style declaration, or two names: \"%s\" is the name of a type", t->text);
	if (t->kind != ';')
		dt_syntax(cc, "syntax error: expected ;");
}

/* declaration := specifiers [ declarator { "," declarator } ] ";" */
void dt_parse_declaration(dt_compiler *cc)
{
	dt_specs s;

	dt_parse_specs(cc, DECL_EXTERNAL, &s);
	if (cc->lex.tok.kind == ';') {
		if (!s.names_tag || (s.class_ == T_TYPEDEF && !s.has_body))
			dt_fail(cc, s.pos, D_DECL_USELESS, "the declaration declares nothing");
		return;
	}
	for (;;) {
		dt_declarator d = {0};
		dt_parse_declarator(cc, DECL_EXTERNAL, NAME_REQUIRED, &d);
		if (s.is_inline && cc->lex.tok.kind == '{' && !s.class_ && !dt_lex_included(cc) && d.derive.n &&
		    d.derive.v[0].kind == DERIVE_FUNCTION) {
			check_new_name(cc, &d);
			dt_parse_function(cc, &d, dt_declared_type(cc, &s, &d, 1));
			return;
		}
		if (s.is_inline && cc->lex.tok.kind == '=' &&
		    !(d.derive.n && d.derive.v[0].kind == DERIVE_FUNCTION)) {
			declare_inline(cc, &s, &d);
			break;
		}
		if (s.is_inline && !(d.derive.n && d.derive.v[0].kind == DERIVE_FUNCTION))
			dt_syntax(cc, "syntax error: expected = and the value of inline \"%s\"",
				  d.name);
		declare(cc, &s, &d);
		if (skip_c_definition(cc, &s, &d))
			return;
		if (cc->lex.tok.kind != ',')
			break;
		dt_lex_next(cc);
	}
	dt_expect_end_of_names(cc);
}
