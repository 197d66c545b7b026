/*
 * decl_tag: struct, union and enum.
 *
 * A tag is looked up in the container that is being filled ("C" inside included headers, "D" in
 * the program), then among the other local types, then in libraries, then in the kernel, and
 * finally in the traced process ($target), if there is one. A definition creates the incomplete
 * type first, so that members can point to it, and adds the members when all of them are known;
 * until then the type cannot be a member of itself. An identical definition is allowed in
 * headers, and in a library that comes after the program; any other second one is D_DECL_TYPERED.
 */
#include <limits.h>
#include <stdlib.h>

#include "lang/decl.h"
#include "type/user.h"

typedef struct member {
	const char *name; /* NULL: anonymous struct or union, or an unnamed bit-field */
	dt_type *type;
	uint32_t width; /* 0: no bit-field */
	bool fill;	/* ":0": up to the next unit of the type */
	bool flexible;	/* an array without a dimension */
	dt_pos pos;
} member;

typedef struct members {
	member *v;
	uint32_t n, cap;
} members;

const char *dt_decl_container(const dt_compiler *cc)
{
	return dt_lex_included(cc) ? "C" : "D";
}

static const char *kind_word(enum dt_kind kind)
{
	return kind == DT_K_STRUCT ? "struct" : kind == DT_K_UNION ? "union" : "enum";
}

static enum dt_namespace kind_space(enum dt_kind kind)
{
	return kind == DT_K_STRUCT ? DT_NS_STRUCT : kind == DT_K_UNION ? DT_NS_UNION : DT_NS_ENUM;
}

/* The tag in the container being filled; for the program also in that of its headers. */
static dt_type *find_defined(dt_compiler *cc, enum dt_namespace ns, const char *tag)
{
	dt_type *t = dt_type_lookup(cc->types, "C", ns, tag);

	if (!t && !dt_lex_included(cc))
		t = dt_type_lookup(cc->types, "D", ns, tag);
	return t;
}

/* ---- what has been defined ---- */

bool dt_is_defined(dt_compiler *cc, const char *name)
{
	const uint32_t *by = dt_map_get(cc->shared->defined, name);

	return by && *by && (*by == cc->generation || !cc->src || !cc->src->is_library);
}

void dt_set_defined(dt_compiler *cc, const char *name)
{
	dt_map_set(cc->shared->defined, name,
		   dt_arena_dup(cc->arena, &cc->generation, sizeof(cc->generation)));
}

void dt_definitions_undo(dt_compiler *cc)
{
	uint32_t it = 0;
	const char *name;
	void *by;

	while (dt_map_next(cc->shared->defined, &it, &name, &by))
		if (*(uint32_t *)by == cc->generation)
			*(uint32_t *)by = 0;
}

/* A second body for a tag is refused where it begins. */
static void check_body_is_new(dt_compiler *cc, enum dt_kind kind, const char *tag, dt_pos pos)
{
	const char *key;

	if (!tag || dt_lex_included(cc))
		return;
	key = dt_arena_printf(cc->arena, "%s %s", kind_word(kind), tag);
	if (dt_is_defined(cc, key))
		dt_fail(cc, pos, D_DECL_TYPERED, "%s was defined before", key);
	dt_set_defined(cc, key);
}

/* ---- members ---- */

static member *add_member(dt_compiler *cc, members *list, const char *name, dt_type *type)
{
	member *m = dt_vec_add(list, cc->arena);

	m->name = name;
	m->type = type;
	return m;
}

static void parse_width(dt_compiler *cc, member *m)
{
	dt_pos pos = cc->lex.tok.pos;
	int64_t width;
	dt_node *n;

	dt_lex_next(cc); /* : */
	if (!dt_type_is_integer(m->type))
		dt_fail(cc, pos, D_DECL_BFTYPE, "a bit-field must have an integer type, not %s",
			dt_tname(cc, m->type));
	cc->nlinks = 0;
	n = dt_parse_assign(cc);
	if (!dt_check_const(cc, n, &width, NULL))
		dt_fail(cc, pos, D_DECL_BFCONST, "the width of a bit-field must be a constant");
	if (width == 0 && !m->name && dt_lex_included(cc))
		m->fill = true;
	else if (width <= 0)
		dt_fail(cc, pos, D_DECL_BFCONST, "the width of a bit-field must be positive");
	if ((uint64_t)width > dt_type_size(cc->types, m->type) * 8)
		dt_fail(cc, pos, D_DECL_BFSIZE, "%lld bits do not fit in a bit-field of type %s",
			(long long)width, dt_tname(cc, m->type));
	m->width = (uint32_t)width;
}

static void parse_member_declarator(dt_compiler *cc, const dt_specs *s, members *list)
{
	dt_declarator d = {.pos = cc->lex.tok.pos};
	bool flexible;
	member *m;

	if (cc->lex.tok.kind == ':') {
		parse_width(cc, add_member(cc, list, NULL, s->type));
		return;
	}
	dt_parse_declarator(cc, DECL_MEMBER, NAME_OPTIONAL, &d);
	if (!d.name)
		dt_fail(cc, d.pos, D_DECL_MNAME, "a member needs a name");
	flexible = d.derive.n > 0 && d.derive.v[0].kind == DERIVE_ARRAY && d.derive.v[0].no_size;
	if (flexible)
		d.derive.v[0].no_size = false; /* allowed, if it is the last: check_flexible() */
	m = add_member(cc, list, d.name, dt_declared_type(cc, s, &d, 0));
	m->flexible = flexible;
	m->pos = d.pos;
	if (cc->lex.tok.kind == ':')
		parse_width(cc, m);
	else if (dt_type_is_function(m->type))
		dt_fail(cc, d.pos, D_DECL_VOIDOBJ, "member \"%s\" cannot be a function", d.name);
	else if (!flexible)
		dt_check_object_type(cc, d.pos, d.name, m->type);
}

/* Only the last member of a struct can be an array without a dimension. */
static void check_flexible(dt_compiler *cc, const members *list)
{
	for (uint32_t i = 0; i + 1 < list->n; i++)
		if (list->v[i].flexible && !dt_lex_included(cc))
			dt_fail(cc, list->v[i].pos, D_DECL_ARRNULL,
				"array \"%s\" needs a dimension: it is not the last member",
				list->v[i].name);
}

static void parse_member_declaration(dt_compiler *cc, members *list)
{
	dt_specs s;

	dt_parse_specs(cc, DECL_MEMBER, &s);
	if (cc->lex.tok.kind == ';') {
		if (dt_type_is_sou(s.type) && !dt_type_resolve(s.type)->name)
			add_member(cc, list, NULL, s.type);
		else if (!s.names_tag)
			dt_fail(cc, s.pos, D_DECL_MNAME, "a member needs a name");
		return;
	}
	for (;;) {
		parse_member_declarator(cc, &s, list);
		if (cc->lex.tok.kind != ',')
			return;
		dt_lex_next(cc);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_duplicates(dt_compiler *cc, const members *list, dt_pos pos)
{
	const char **names = dt_arena_alloc(cc->arena, (list->n + 1) * sizeof(*names));
	size_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->v[i].name)
			names[n++] = list->v[i].name;
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 1; i < n; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			dt_fail(cc, pos, D_UNKNOWN, "member \"%s\" is declared twice", names[i]);
}

/* From '{' to the token after '}'. */
static void parse_members(dt_compiler *cc, members *list)
{
	dt_pos pos = cc->lex.tok.pos;

	dt_depth_enter(cc, pos);
	dt_lex_next(cc);
	if (cc->lex.tok.kind == '}' && !dt_lex_included(cc))
		dt_syntax(cc, "syntax error: a struct or union needs members");
	while (cc->lex.tok.kind != '}') {
		if (cc->lex.tok.kind != ';')
			parse_member_declaration(cc, list);
		dt_expect_end_of_names(cc);
		dt_lex_next(cc);
	}
	check_duplicates(cc, list, pos);
	check_flexible(cc, list);
	dt_depth_leave(cc);
}

/* ---- layout ---- */

/* Unnamed bits up to the next unit, for ":0". */
static uint32_t fill_width(dt_compiler *cc, const dt_type *sou, const member *m)
{
	uint64_t unit = dt_type_size(cc->types, m->type) * 8, end = 0;
	const dt_member *last = sou->nmembers ? &sou->members[sou->nmembers - 1] : NULL;

	if (last && last->bit_width)
		end = last->bit_offset + last->bit_width;
	return (uint32_t)(end % unit ? unit - end % unit : 0);
}

/* __attribute__((packed)): no padding except the bits of an incomplete last byte. */
static void pack(dt_compiler *cc, dt_type *sou)
{
	uint64_t at = 0, end = 0;

	for (uint32_t i = 0; i < sou->nmembers; i++) {
		dt_member *m = &sou->members[i];
		uint64_t bits = m->bit_width ? m->bit_width : dt_type_size(cc->types, m->type) * 8;
		if (!m->bit_width)
			at = dt_align_up(at, 8);
		m->bit_offset = sou->kind == DT_K_UNION ? 0 : at;
		at += bits;
		if (m->bit_offset + bits > end)
			end = m->bit_offset + bits;
	}
	sou->size = (end + 7) / 8;
	sou->align = 1;
}

static void complete(dt_compiler *cc, dt_type *sou, const members *list, bool packed,
		     uint32_t aligned)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const member *m = &list->v[i];
		uint32_t width = m->fill ? fill_width(cc, sou, m) : m->width;
		if (!m->fill || width)
			dt_type_add_member(cc->types, sou, m->name, m->type, width);
	}
	dt_type_finish_sou(cc->types, sou);
	if (packed)
		pack(cc, sou);
	if (aligned > sou->align) {
		sou->align = aligned;
		sou->size = dt_align_up(sou->size, aligned);
	}
}

/* Same members at the same places? A member may point back to the old type by its tag. */
static bool same_layout(dt_compiler *cc, dt_type *a, dt_type *b)
{
	dt_type_complete(cc->types, a);
	if (a->size != b->size || a->nmembers != b->nmembers)
		return false;
	for (uint32_t i = 0; i < a->nmembers; i++) {
		const dt_member *x = &a->members[i], *y = &b->members[i];
		bool inner = !*x->name && dt_type_is_sou(x->type) && dt_type_is_sou(y->type);
		if (strcmp(x->name, y->name) != 0 || x->bit_offset != y->bit_offset ||
		    x->bit_width != y->bit_width)
			return false;
		if (inner ? !same_layout(cc, dt_type_resolve(x->type), dt_type_resolve(y->type))
			  : dt_type_size(cc->types, x->type) != dt_type_size(cc->types, y->type) ||
				strcmp(dt_tname(cc, x->type), dt_tname(cc, y->type)) != 0)
			return false;
	}
	return true;
}

/* ---- struct and union ---- */

static dt_type *define_sou(dt_compiler *cc, enum dt_kind kind, const char *tag, dt_pos pos,
			   bool packed)
{
	dt_type *old = NULL, *t;
	const char *container = dt_decl_container(cc);
	members list = {0};
	bool again;

	check_body_is_new(cc, kind, tag, pos);
	if (tag)
		old = find_defined(cc, kind_space(kind), tag);
	again = old && dt_type_is_complete(cc->types, old);
	if (again)
		t = dt_type_sou(cc->types, container, kind, NULL); /* only to compare */
	else
		t = old ? old : dt_type_sou(cc->types, container, kind, tag);
	t->open = true;
	parse_members(cc, &list);
	t->open = false;
	cc->lex.packed = false;
	cc->lex.aligned = 0;
	dt_lex_next(cc); /* '}', and the attributes after it */
	if (!again && tag && dt_type_is_complete(cc->types, t))
		dt_fail(cc, pos, D_DECL_TYPERED, "%s %s is defined inside itself", kind_word(kind),
			tag);
	complete(cc, t, &list, packed || cc->lex.packed, cc->lex.aligned);
	if (again && !same_layout(cc, old, t))
		dt_fail(cc, pos, D_DECL_TYPERED, "%s %s was defined differently before",
			kind_word(kind), tag);
	return old ? old : t;
}

/* A tag that neither the program nor the kernel defines may be one of the process that is traced.
 * `known`: what they have, which may be incomplete, or NULL. */
static dt_type *or_of_target(dt_compiler *cc, dt_type *known, enum dt_namespace ns, const char *tag)
{
	dt_type *t = NULL;

	if (cc->macros && cc->macros->target > 0 &&
	    !(known && dt_type_is_complete(cc->types, known)))
		t = dt_user_type(cc->types,
				 dt_arena_printf(cc->arena, "pid%ld", cc->macros->target), ns, tag,
				 NULL);
	return t ? t : known;
}

static dt_type *refer_to_sou(dt_compiler *cc, enum dt_kind kind, const char *module,
			     const char *tag, dt_pos pos)
{
	enum dt_namespace ns = kind_space(kind);
	dt_type *local, *t;

	if (module)
		return dt_type_in_module(cc, pos, module, ns, tag);
	local = dt_type_lookup_local(cc->types, ns, tag);
	if (local && (local->open || dt_type_is_complete(cc->types, local)))
		return local;
	/* A header's forward declaration is about its own struct, not about the kernel's; and
	 * "struct foo;" announces one. Otherwise the kernel may have the full definition. */
	if (!dt_lex_included(cc) && cc->lex.tok.kind != ';') {
		if (dt_library_for(cc, tag))
			local = dt_type_lookup_local(cc->types, ns, tag);
		if (local && dt_type_is_complete(cc->types, local))
			return local;
		t = dt_type_lookup(cc->types, local ? "vmlinux" : NULL, ns, tag);
		t = or_of_target(cc, t, ns, tag);
		if (t)
			return t;
	}
	if (local)
		return local;
	return dt_type_sou(cc->types, dt_decl_container(cc), kind, tag);
}

/* tag := [module`] name, and in a process { "::" name }. NULL: there is none. */
static const char *parse_tag(dt_compiler *cc, const char **module)
{
	const char *tag;

	if (cc->lex.tok.kind != T_IDENT && !dt_is_d_keyword(cc->lex.tok.kind))
		return NULL;
	tag = cc->lex.tok.text;
	if (cc->lex.tok.module)
		*module = cc->lex.tok.module;
	dt_lex_next(cc);
	while (dt_module_is_user(*module) && cc->lex.tok.kind == ':' &&
	       dt_lex_peek(cc, 0)->kind == ':') {
		dt_lex_next(cc);
		dt_lex_next(cc);
		tag = dt_arena_printf(cc->arena, "%s::%s", tag,
				      cc->lex.tok.text ? cc->lex.tok.text : "");
		dt_lex_expect(cc, T_IDENT, "a name");
	}
	return tag;
}

/* struct-specifier := [module`] ("struct" | "union") [tag] ["{" members "}"] */
dt_type *dt_parse_sou(dt_compiler *cc, bool *has_body)
{
	enum dt_kind kind = cc->lex.tok.kind == T_STRUCT ? DT_K_STRUCT : DT_K_UNION;
	const char *module = cc->lex.tok.module, *tag;
	dt_pos pos = cc->lex.tok.pos;
	bool packed;

	cc->lex.packed = false;
	dt_lex_next(cc); /* and attributes before the tag */
	packed = cc->lex.packed;
	tag = parse_tag(cc, &module);
	*has_body = cc->lex.tok.kind == '{';
	if (*has_body) {
		if (module)
			dt_fail(cc, pos, D_DECL_SCOPE, "a %s cannot be defined in module %s",
				kind_word(kind), module);
		return define_sou(cc, kind, tag, pos, packed);
	}
	if (!tag)
		dt_syntax(cc, NULL);
	return refer_to_sou(cc, kind, module, tag, pos);
}

/* ---- enum ---- */

static int64_t enumerator_value(dt_compiler *cc, int64_t next)
{
	dt_pos pos = cc->lex.tok.pos;
	bool is_constant = true;
	int64_t v = next;

	if (cc->lex.tok.kind == '=') {
		dt_lex_next(cc);
		cc->nlinks = 0;
		is_constant = dt_check_const(cc, dt_parse_assign(cc), &v, NULL);
	}
	if (!is_constant)
		dt_fail(cc, pos, D_DECL_ENCONST, "the value of an enumerator must be a constant");
	if ((v > INT_MAX || v < INT_MIN) && !dt_lex_included(cc))
		dt_fail(cc, pos, D_DECL_ENOFLOW, "enumerator value %lld does not fit in an int",
			(long long)v);
	return v;
}

/* The name must be new, or the i-th enumerator of the enum that is being repeated. */
static void declare_enumerator(dt_compiler *cc, dt_type *e, bool repeat, uint32_t i,
			       const char *name, int64_t value, dt_pos pos)
{
	dt_type *other;
	int64_t v;

	if (repeat) {
		if (i >= e->nenumerators || strcmp(e->enumerators[i].name, name) != 0 ||
		    e->enumerators[i].value != value)
			dt_fail(cc, pos, D_DECL_TYPERED, "enum %s was defined differently before",
				e->name ? e->name : "");
		return;
	}
	if (dt_enumerator_lookup(cc->types, name, false, &other, &v) && other == e)
		dt_fail(cc, pos, D_UNKNOWN, "enumerator \"%s\" is declared twice", name);
	if (dt_gives_way(cc, name))
		return;
	if (dt_enumerator_lookup(cc->types, name, false, &other, &v) &&
	    (v != value || !dt_lex_included(cc)))
		dt_fail(cc, pos, D_DECL_IDRED, "enumerator \"%s\" was declared before", name);
	if (!dt_lex_included(cc) && dt_ident_find(cc, name, 0))
		dt_fail(cc, pos, D_DECL_IDRED, "\"%s\" is the name of a variable or function",
			name);
	dt_type_add_enumerator(cc->types, e, name, value);
}

static dt_type *define_enum(dt_compiler *cc, const char *tag, dt_pos pos)
{
	dt_type *e = tag ? find_defined(cc, DT_NS_ENUM, tag) : NULL;
	bool repeat = e && e->nenumerators > 0;
	int64_t value = 0;
	uint32_t i = 0;

	check_body_is_new(cc, DT_K_ENUM, tag, pos);
	if (!e)
		e = dt_type_enum(cc->types, dt_decl_container(cc), tag);
	dt_lex_next(cc); /* { */
	for (;; value++, i++) {
		dt_pos at = cc->lex.tok.pos;
		const char *name = cc->lex.tok.text;
		if (cc->lex.tok.kind == '}' && i > 0)
			break;
		if (cc->lex.tok.module)
			dt_fail(cc, at, D_DECL_SCOPE, "an enumerator cannot have a module: %s`%s",
				cc->lex.tok.module, name);
		dt_lex_expect(cc, T_IDENT, "the name of an enumerator");
		value = enumerator_value(cc, value);
		declare_enumerator(cc, e, repeat, i, name, value, at);
		if (cc->lex.tok.kind != ',') {
			i++;
			break;
		}
		dt_lex_next(cc);
	}
	if (repeat && i != e->nenumerators)
		dt_fail(cc, pos, D_DECL_TYPERED, "enum %s was defined differently before", tag);
	dt_lex_expect(cc, '}', "}");
	return e;
}

/* enum-specifier := [module`] "enum" [tag] ["{" name ["=" constant] {"," ...} [","] "}"] */
dt_type *dt_parse_enum(dt_compiler *cc, bool *has_body)
{
	const char *module = cc->lex.tok.module, *tag;
	dt_pos pos = cc->lex.tok.pos;
	dt_type *t;

	dt_lex_next(cc);
	tag = parse_tag(cc, &module);
	*has_body = cc->lex.tok.kind == '{' && !module;
	if (*has_body)
		return define_enum(cc, tag, pos);
	if (!tag)
		dt_syntax(cc, NULL);
	if (dt_module_is_user(module))
		t = dt_type_in_module(cc, pos, module, DT_NS_ENUM, tag);
	else if (module)
		t = dt_type_lookup(cc->types, *module ? module : "vmlinux", DT_NS_ENUM, tag);
	else if ((t = dt_type_lookup_local(cc->types, DT_NS_ENUM, tag)) || dt_lex_included(cc))
		;
	else if (dt_library_for(cc, tag))
		t = dt_type_lookup_local(cc->types, DT_NS_ENUM, tag);
	if (!t && !module && !dt_lex_included(cc))
		t = or_of_target(cc, dt_type_lookup(cc->types, NULL, DT_NS_ENUM, tag), DT_NS_ENUM,
				 tag);
	if (!t && dt_lex_included(cc) && !module)
		t = dt_type_enum(cc->types, "C", tag);
	if (!t)
		dt_fail(cc, pos, D_DECL_INCOMPLETE, "enum %s is not known", tag);
	return t;
}
