/*
 * decl_spec: declaration specifiers: storage classes, qualifiers and base types.
 *
 * The words of a base type may come in any order ("long unsigned int"), so they are counted first
 * and made into a type at the end. A name counts as a type only while no base type was seen.
 *
 * Names are looked up among the local types first (headers, program, intrinsics), and in the kernel
 * only where a type is required.
 */
#include "lang/decl.h"
#include "type/user.h"

bool dt_is_type_keyword(int token)
{
	switch (token) {
	case T_CHAR:
	case T_CONST:
	case T_DOUBLE:
	case T_ENUM:
	case T_FLOAT:
	case T_KW_INT:
	case T_LONG:
	case T_RESTRICT:
	case T_SHORT:
	case T_SIGNED:
	case T_KW_STRING:
	case T_STRUCT:
	case T_UNION:
	case T_UNSIGNED:
	case T_USERLAND:
	case T_VOID:
	case T_VOLATILE: return true;
	default: return false;
	}
}

/* ---- built-in types of C compilers ---- */

static const struct {
	const char *name, *alias; /* alias: just another name for it */
	uint64_t size;
	uint32_t align;
} compiler_types[] = {
    {"_Float32", "float", 0, 0},   {"_Float32x", "double", 0, 0},
    {"_Float64", "double", 0, 0},  {"_Float64x", "long double", 0, 0},
    {"_Float128", NULL, 16, 16},   {"__float128", NULL, 16, 16},
    {"__int128", NULL, 16, 16},	   {"__int128_t", NULL, 16, 16},
    {"__uint128_t", NULL, 16, 16},
};

/* Opaque: a struct of the right size with the type's name. */
static dt_type *make_opaque(dt_types *ts, const char *name, uint64_t size, uint32_t align)
{
	dt_type *sou = dt_type_sou(ts, "C", DT_K_STRUCT, NULL);

	dt_type_add_member(ts, sou, "words", dt_type_array(ts, dt_intrinsics(ts)->uint64, size / 8),
			   0);
	dt_type_finish_sou(ts, sou);
	sou->align = align;
	return dt_type_typedef(ts, "C", name, sou);
}

static dt_type *compiler_type(dt_types *ts, const char *name)
{
	if (name[0] != '_')
		return NULL;
	if (strcmp(name, "__builtin_va_list") == 0)
		return make_opaque(ts, name, dt_va_list_size(), 8);
	for (size_t i = 0; i < DT_NELEM(compiler_types); i++) {
		if (strcmp(name, compiler_types[i].name) != 0)
			continue;
		if (compiler_types[i].alias)
			return dt_type_lookup_local(ts, DT_NS_ORDINARY, compiler_types[i].alias);
		return make_opaque(ts, name, compiler_types[i].size, compiler_types[i].align);
	}
	return NULL;
}

dt_type *dt_named_type(dt_compiler *cc, const char *module, const char *name, bool kernel)
{
	dt_type *t;

	if (module && *module)
		return dt_type_lookup(cc->types, module, DT_NS_ORDINARY, name);
	if (module) /* `name */
		return dt_type_lookup(cc->types, "vmlinux", DT_NS_ORDINARY, name);
	t = dt_type_lookup_local(cc->types, DT_NS_ORDINARY, name);
	if (t && t->special != DT_S_NONE && t->special != DT_S_STRING)
		return NULL; /* the compiler's own; "stack" is an action to users */
	if (!t)
		t = compiler_type(cc->types, name);
	if (!t && kernel && !dt_lex_included(cc) && dt_library_for(cc, name)) {
		int64_t value;

		t = dt_type_lookup_local(cc->types, DT_NS_ORDINARY, name);
		if (!t && (dt_ident_find(cc, name, 0) ||
			   dt_enumerator_lookup(cc->types, name, false, &t, &value)))
			return NULL;
	}
	if (!t && kernel)
		t = dt_type_lookup(cc->types, NULL, DT_NS_ORDINARY, name);
	return t;
}

dt_type *dt_type_in_module(dt_compiler *cc, dt_pos pos, const char *module, enum dt_namespace ns,
			   const char *name)
{
	static const char *const words[] = {"type", "struct", "union", "enum"};
	dt_error why = {0};
	dt_type *t;

	if (!*module) /* `name */
		module = "vmlinux";
	t = dt_module_is_user(module) ? dt_user_type(cc->types, module, ns, name, &why)
				      : dt_type_lookup(cc->types, module, ns, name);
	if (!t && why.code)
		dt_fail_error(cc, pos, &why, D_DECL_IDENT);
	if (!t)
		dt_fail(cc, pos, D_DECL_IDENT, "there is no %s %s in %s", words[ns], name,
			strcmp(module, "vmlinux") ? module : "the kernel");
	return t;
}

static bool is_formal(const dt_compiler *cc, const char *name)
{
	for (uint32_t i = 0; i < cc->nformals; i++)
		if (cc->formals[i].name && strcmp(cc->formals[i].name, name) == 0)
			return true;
	return false;
}

bool dt_starts_type(dt_compiler *cc)
{
	const dt_token *t = &cc->lex.tok;
	int64_t value;
	dt_type *type;
	int after;

	if (dt_is_type_keyword(t->kind))
		return true;
	if (t->kind != T_IDENT || is_formal(cc, t->text))
		return false;
	if (!t->module && dt_named_type(cc, NULL, t->text, false))
		return true;
	if (!t->module && (dt_ident_find(cc, t->text, 0) ||
			   dt_enumerator_lookup(cc->types, t->text, false, &type, &value)))
		return false;
	after = dt_lex_peek(cc, 0)->kind;
	return (after == ')' || after == '*') && dt_named_type(cc, t->module, t->text, true);
}

/* ---- counting the words ---- */

struct words {
	int base; /* T_CHAR, T_KW_INT ...; T_IDENT: `type` is it; 0: none yet */
	dt_type *type;
	const char *name; /* of a T_IDENT base, for messages */
	int nlong, nshort, nsigned, nunsigned;
	bool is_const, is_volatile, is_restrict;
	uint32_t seen; /* specifiers of any kind */
};

_Noreturn static void bad_combination(dt_compiler *cc, dt_pos pos)
{
	dt_fail(cc, pos, D_DECL_COMBO, "invalid combination of type specifiers");
}

static void set_base(dt_compiler *cc, struct words *w, int base, dt_type *type)
{
	if (w->base)
		bad_combination(cc, cc->lex.tok.pos);
	w->base = base;
	w->type = type;
}

static void set_class(dt_compiler *cc, enum dt_decl_place place, dt_specs *s)
{
	const dt_token *t = &cc->lex.tok;

	if (place == DECL_PARAM && t->kind == T_REGISTER && dt_lex_included(cc))
		return;
	if (place == DECL_PARAM)
		dt_fail(cc, t->pos, D_DECL_PARMCLASS,
			"a parameter cannot have the storage class \"%s\"", t->text);
	if (place == DECL_MEMBER)
		dt_fail(cc, t->pos, D_DECL_BADCLASS,
			"a member cannot have the storage class \"%s\"", t->text);
	if (place == DECL_TYPE_NAME)
		dt_syntax(cc, NULL);
	if (s->class_)
		dt_fail(cc, t->pos, D_DECL_CLASS,
			"only one storage class can be given, and \"%s\" is the second", t->text);
	s->class_ = t->kind;
}

/* A name where a base type is missing: is it the type, or already the declarator ("static x;")?
 * True if it was taken as the type. */
static bool take_type_name(dt_compiler *cc, enum dt_decl_place place, struct words *w)
{
	const dt_token *t = &cc->lex.tok;
	bool modified = w->nlong || w->nshort || w->nsigned || w->nunsigned;
	int after = dt_lex_peek(cc, 0)->kind;
	dt_type *type;

	if (w->base)
		return false;
	if (modified && (t->module || after != T_IDENT) && after != '*' &&
	    strcmp(t->text, "__int128") != 0)
		return false; /* "unsigned x" */
	type = dt_named_type(cc, t->module, t->text, false);
	if (!type && w->seen && place == DECL_EXTERNAL && !t->module &&
	    (after == ';' || after == ',' || after == '[' || after == '='))
		return false;
	if (!type)
		type = dt_named_type(cc, t->module, t->text, true);
	if (!type && modified)
		return false;
	if (!type && dt_module_is_user(t->module))
		type = dt_type_in_module(cc, t->pos, t->module, DT_NS_ORDINARY,
					 t->text); /* says why not */
	if (!type && (place == DECL_TYPE_NAME || (place == DECL_EXTERNAL && w->seen && !t->module)))
		dt_fail(cc, t->pos, D_SYNTAX, "type \"%s\" is not known", t->text);
	if (!type)
		dt_fail(cc, t->pos, D_DECL_IDENT,
			"old-style declaration, or type \"%s\" is not known", t->text);
	w->name = t->text;
	set_base(cc, w, T_IDENT, type);
	return true;
}

/* Members, parameters and anything in C headers may have a name that is reserved only in D; it is
 * their name if the type is complete without it. */
static bool is_name_here(dt_compiler *cc, enum dt_decl_place place, const struct words *w)
{
	int kind = cc->lex.tok.kind, after;

	if (!w->base || (place != DECL_MEMBER && place != DECL_PARAM && !dt_lex_included(cc)))
		return false;
	if (kind == T_SELF || kind == T_THIS || kind == T_KW_STRING)
		return true;
	if (kind != T_USERLAND)
		return false;
	after = dt_lex_peek(cc, 0)->kind;
	return after == ';' || after == ',' || after == ')' || after == '[' || after == ':';
}

/* One specifier; false when the current token is none. Tags are parsed up to the token after
 * them, the rest is one token. */
static bool take_specifier(dt_compiler *cc, enum dt_decl_place place, dt_specs *s, struct words *w)
{
	int kind = cc->lex.tok.kind;

	if (is_name_here(cc, place, w))
		return false;
	switch (kind) {
	case T_AUTO:
	case T_REGISTER:
	case T_STATIC:
	case T_EXTERN:
	case T_TYPEDEF:
	case T_SELF:
	case T_THIS: set_class(cc, place, s); break;
	case T_INLINE:
		if (place != DECL_EXTERNAL)
			return false;
		s->is_inline = true;
		break;
	case T_CONST: w->is_const = true; break;
	case T_VOLATILE: w->is_volatile = true; break;
	case T_RESTRICT: w->is_restrict = true; break;
	case T_USERLAND: s->userland = true; break;
	case T_LONG: w->nlong++; break;
	case T_SHORT: w->nshort++; break;
	case T_SIGNED: w->nsigned++; break;
	case T_UNSIGNED: w->nunsigned++; break;
	case T_CHAR:
	case T_KW_INT:
	case T_VOID:
	case T_FLOAT:
	case T_DOUBLE:
	case T_KW_STRING: set_base(cc, w, kind, NULL); break;
	case T_STRUCT:
	case T_UNION:
	case T_ENUM:
		if (w->base)
			bad_combination(cc, cc->lex.tok.pos);
		w->name = kind == T_STRUCT ? "struct" : kind == T_UNION ? "union" : "enum";
		set_base(cc, w, T_IDENT,
			 kind == T_ENUM ? dt_parse_enum(cc, &s->has_body)
					: dt_parse_sou(cc, &s->has_body));
		s->names_tag = w->type->name != NULL || kind == T_ENUM;
		return true;
	case T_IDENT:
		if (!take_type_name(cc, place, w))
			return false;
		s->in_process |= dt_module_is_user(cc->lex.tok.module);
		break;
	default: return false;
	}
	dt_lex_next(cc);
	return true;
}

/* ---- making the base type ---- */

/* Modifiers that are invalid with the base type each have their own tag. */
static void check_modifiers(dt_compiler *cc, dt_pos pos, const struct words *w)
{
	bool sign = w->nsigned || w->nunsigned, length = w->nlong || w->nshort;
	bool is_int = w->base == 0 || w->base == T_KW_INT;

	if (w->nsigned > 1 || w->nunsigned > 1 || w->nshort > 1 || w->nlong > 2)
		bad_combination(cc, pos);
	if ((w->nsigned && w->nunsigned) || (w->nlong && w->nshort))
		dt_fail(cc, pos, D_UNKNOWN, "there is no type that is both %s",
			w->nsigned && w->nunsigned ? "signed and unsigned" : "short and long");
	if (w->base == T_CHAR && length)
		dt_fail(cc, pos, D_DECL_CHARATTR, "char can be signed or unsigned, but not %s",
			w->nlong ? "long" : "short");
	if (w->base == T_VOID && (sign || length))
		dt_fail(cc, pos, D_DECL_VOIDATTR, "void cannot be signed, unsigned, long or short");
	if (sign && !is_int && w->base != T_CHAR &&
	    !(w->base == T_IDENT && strcmp(w->name, "__int128") == 0))
		dt_fail(cc, pos, D_DECL_SIGNINT, "only char and integer types can be %s",
			w->nsigned ? "signed" : "unsigned");
	if (length && !is_int && !(w->base == T_DOUBLE && w->nlong == 1))
		dt_fail(cc, pos, D_DECL_LONGINT, "only integer types can be %s",
			w->nlong ? "long" : "short");
}

static dt_type *base_type(dt_compiler *cc, const struct words *w)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	const char *name;

	switch (w->base) {
	case T_IDENT: return w->type;
	case T_VOID: return in->void_;
	case T_KW_STRING: return in->string;
	case T_FLOAT: name = "float"; break;
	case T_DOUBLE: name = w->nlong ? "long double" : "double"; break;
	case T_CHAR:
		if (!w->nsigned && !w->nunsigned)
			return in->char_;
		name = w->nunsigned ? "unsigned char" : "signed char";
		break;
	default:
		if (w->nlong == 2)
			return w->nunsigned ? in->ullong : in->llong;
		if (w->nlong == 1)
			return w->nunsigned ? in->ulong : in->long_;
		if (!w->nshort)
			return w->nunsigned ? in->uint : in->int_;
		name = w->nunsigned ? "unsigned short" : "short";
	}
	return dt_type_lookup_local(cc->types, DT_NS_ORDINARY, name);
}

static dt_type *qualified(dt_compiler *cc, dt_type *t, const struct words *w)
{
	if (w->is_const)
		t = dt_type_qualify(cc->types, t, DT_K_CONST);
	if (w->is_volatile)
		t = dt_type_qualify(cc->types, t, DT_K_VOLATILE);
	if (w->is_restrict)
		t = dt_type_qualify(cc->types, t, DT_K_RESTRICT);
	return t;
}

void dt_parse_specs(dt_compiler *cc, enum dt_decl_place place, dt_specs *out)
{
	struct words w = {0};

	memset(out, 0, sizeof(*out));
	out->pos = cc->lex.tok.pos;
	while (take_specifier(cc, place, out, &w))
		w.seen++;
	if (w.seen == 0)
		dt_syntax(cc, NULL);
	check_modifiers(cc, out->pos, &w);
	out->type = base_type(cc, &w);
	if (!out->type)
		dt_fail(cc, out->pos, D_TYPE_ERR, "a base type is missing from the type store");
	out->in_process |= out->type->user != NULL;
	/* userland on a name for a pointer: that pointer */
	if (out->userland && dt_type_is_pointer(out->type))
		out->type = dt_type_userland(cc->types, dt_type_resolve(out->type));
	out->type = qualified(cc, out->type, &w);
}
