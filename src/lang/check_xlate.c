/*
 * check_xlate: inlines and translators, both by substitution.
 *
 * The stored expression is copied and checked with its formals bound to the (already checked)
 * arguments. The formals are the only bindings visible inside: an inline does not see those of its
 * user. Substitution can grow exponentially (each of thirty inlines uses the previous one twice),
 * so the nodes copied for one clause are counted and limited.
 *
 * `xlate < T > (e)` remains an N_XLATE node of dynamic type until a member of it is used; then that
 * member's expression replaces it. Where the whole struct is needed (*p, trace(), print(), =) the
 * node gets the struct as its type; the generator then builds an object of all members in scratch
 * memory.
 */
#include "lang/check.h"

/* Nodes that one clause may copy; generous for real libraries, small enough to be quick. */
#define EXPANSION_LIMIT 200000

dt_node *dt_node_expand(dt_compiler *cc, const dt_node *n, dt_pos pos)
{
	cc->expanded += dt_node_count(n);
	if (cc->expanded > EXPANSION_LIMIT)
		dt_fail(cc, pos, D_SYNTAX,
			"inlines, functions and translators expand to more than %d operations",
			EXPANSION_LIMIT);
	return dt_node_copy(cc, n);
}

/* Faults in these nodes are reported as faults of `use`. */
static void set_use(dt_node *n, const dt_node *use)
{
	for (; n; n = n->next) {
		n->use = use;
		set_use(n->c, use);
		set_use(n->l, use);
		set_use(n->r, use);
		set_use(n->args, use);
	}
}

dt_node *dt_node_expand_list(dt_compiler *cc, const dt_node *list, dt_pos pos)
{
	dt_node *first = NULL, **last = &first;

	for (; list; list = list->next) {
		dt_node one = *list;

		one.next = NULL;
		*last = dt_node_expand(cc, &one, pos);
		last = &(*last)->next;
	}
	return first;
}

static dt_node *check_with(dt_compiler *cc, const dt_node *expr, struct dt_binding *bindings,
			   const dt_node *use)
{
	struct dt_binding *outer = cc->bindings;
	dt_node *n = dt_node_expand(cc, expr, use->pos);

	set_use(n, use);
	cc->bindings = bindings;
	n = dt_check(cc, n);
	cc->bindings = outer;
	return n;
}

/* ---- inlines ---- */

static struct dt_binding *bind_params(dt_compiler *cc, dt_ident *id, dt_node *use)
{
	struct dt_inline *inl = id->inl;
	struct dt_binding *b = NULL;
	uint32_t n = dt_list_len(use->args), i = 0;

	if (n != inl->nparams)
		dt_fail(cc, use->pos, D_PROTO_LEN, "%s[ ] takes %u argument%s, not %u", id->name,
			inl->nparams, inl->nparams == 1 ? "" : "s", n);
	for (dt_node *a = use->args; a; i++) {
		dt_node *next = a->next;
		struct dt_binding *one = dt_arena_alloc(cc->arena, sizeof(*one));
		dt_node *v = dt_check(cc, a);

		one->name = inl->params[i].name ? inl->params[i].name : "";
		one->value = dt_convert(cc, v, inl->params[i].type);
		if (!one->value)
			dt_fail(cc, a->pos, D_PROTO_ARG,
				"%s[ ] argument #%u is %s, but %s is needed", id->name, i + 1,
				dt_tname(cc, v->type), dt_tname(cc, inl->params[i].type));
		one->value->next = NULL;
		one->next = b;
		b = one;
		a = next;
	}
	return b;
}

dt_node *dt_expand_inline(dt_compiler *cc, dt_ident *id, dt_node *use)
{
	return dt_expand_body(cc, id, id->inl->nparams ? bind_params(cc, id, use) : NULL, use);
}

dt_node *dt_expand_body(dt_compiler *cc, dt_ident *id, struct dt_binding *b, const dt_node *use)
{
	bool declared = id->flags & IDF_ATTR; /* its own stability counts, not that of its definition */
	const struct dt_expansion here = {id->inl, cc->expansions};
	dt_attr before = cc->clause_attr;
	dt_node *n, *out;
	bool constant;

	for (const struct dt_expansion *x = cc->expansions; x; x = x->outer)
		if (x->inl == id->inl)
			dt_fail(cc, use->pos, D_IDENT_UNDEF,
				"failed to resolve %s: it is not yet defined in its own definition",
				id->name);
	cc->expansions = &here;
	cc->unjudged += declared;
	n = check_with(cc, id->inl->expr, b, use);
	cc->unjudged -= declared;
	cc->expansions = here.outer;
	if (declared) {
		cc->clause_attr = before;
		dt_use_attr(cc, use->pos, id->attr, id->name);
	}
	n->pos = use->pos; /* from here on errors are reported there */
	if (n->kind == N_XLATE)
		return n;
	/* An integer constant keeps its own type; what is constant only for these arguments does not. */
	constant = n->kind == N_INT && (id->inl->nparams == 0 || id->inl->expr->kind == N_INT);
	out = constant && dt_type_is_integer(id->type) && dt_type_is_integer(n->type)
		  ? n
		  : dt_convert(cc, n, id->type);
	if (!out)
		dt_fail(cc, use->pos, D_OP_INCOMPAT,
			"%s %s is declared as %s but its definition is of type %s",
			id->kind == ID_FUNC ? "function" : "inline", id->name, dt_tname(cc, id->type),
			dt_what(cc, n));
	out->pos = use->pos;
	return out;
}

/* A formal parameter as a value of its type, for checking a definition alone. */
static dt_node *opaque(dt_compiler *cc, const char *name, dt_type *t, dt_pos pos)
{
	dt_node *n = dt_node_new(cc, N_VAR, pos);
	dt_ident *id = dt_arena_alloc(cc->arena, sizeof(*id));

	id->name = name;
	id->kind = ID_SCALAR;
	id->type = t;
	n->ident = id;
	n->flags = NF_CHECKED | NF_LVAL;
	dt_set_object(n, t);
	return n;
}

void dt_inline_check(dt_compiler *cc, dt_ident *id)
{
	struct dt_inline *inl = id->inl;
	dt_node *use, **last;

	if (inl->expr->kind == N_INT && dt_type_is_integer(id->type))
		return; /* most of them, in libraries */
	use = dt_node_new(cc, N_IDENT, id->pos);
	last = &use->args;
	for (uint32_t i = 0; i < inl->nparams; i++) {
		*last = opaque(cc, inl->params[i].name, inl->params[i].type, id->pos);
		last = &(*last)->next;
	}
	cc->expanded = 0;
	cc->defining = true;
	if (id->kind == ID_FUNC)
		dt_expand_function(cc, id, use);
	else
		dt_expand_inline(cc, id, use);
	cc->defining = false;
}

/* ---- translators ---- */

static dt_type *strip_pointer(dt_type *t)
{
	t = dt_type_resolve(t);
	return dt_type_is_pointer(t) ? dt_type_resolve(t->ref) : t;
}

static bool is_visible(dt_compiler *cc, const dt_xlator *x)
{
	uint64_t version = dt_opt(cc->opts, DT_O_VERSION);

	return version == 0 || x->version <= version;
}

dt_xlator *dt_xlators_to(dt_compiler *cc, dt_type *out)
{
	const char *tag = strip_pointer(out)->name;

	return dt_map_get(cc->shared->xlators, tag ? tag : "");
}

dt_xlator *dt_xlator_find(dt_compiler *cc, dt_type *in, dt_type *out)
{
	dt_type *want = strip_pointer(out);
	dt_xlator *close = NULL;

	for (dt_xlator *x = dt_xlators_to(cc, out); x; x = x->next) {
		if (!dt_type_equal(cc->types, strip_pointer(x->out), want) || !is_visible(cc, x))
			continue;
		if (dt_type_equal(cc->types, x->in, in))
			return x;
		if (!close && (dt_type_compatible(cc->types, x->in, in) ||
			       (dt_type_is_integer(x->in) && dt_type_is_integer(in))))
			close = x;
	}
	return close;
}

/* The type may be known while a library that translates to it is not compiled yet. */
static dt_xlator *find_or_ask(dt_compiler *cc, dt_type *in, dt_type *out)
{
	dt_xlator *x = dt_xlator_find(cc, in, out);

	if (x && dt_type_equal(cc->types, x->in, in))
		return x;
	return dt_library_for_type(cc, out) ? dt_xlator_find(cc, in, out) : x;
}

dt_node *dt_check_xlate(dt_compiler *cc, dt_node *n)
{
	n->l = dt_check(cc, n->l);
	if (!dt_type_is_sou(strip_pointer(n->ctype)))
		dt_fail(
		    cc, n->pos, D_XLATE_SOU,
		    "cannot translate to type %s: must be a struct or union, or a pointer to one",
		    dt_tname(cc, n->ctype));
	if (!find_or_ask(cc, n->l->type, n->ctype))
		dt_fail(cc, n->pos, D_XLATE_NONE, "no translator is defined for %s to %s",
			dt_tname(cc, n->l->type), dt_tname(cc, n->ctype));
	n->type = dt_intrinsics(cc->types)->dyn;
	return n;
}

dt_node *dt_xlate_object(dt_node *n)
{
	if (n->kind == N_XLATE && dt_type_is_sou(dt_type_resolve(n->ctype)))
		dt_set_object(n, n->ctype);
	return n;
}

dt_node *dt_xlate_deref(dt_node *n)
{
	dt_type *t = n->kind == N_XLATE ? dt_type_resolve(n->ctype) : NULL;

	if (!t || !dt_type_is_pointer(t))
		return NULL;
	n->ctype = t->ref;
	return dt_xlate_object(n);
}

static dt_xmember *find_member(const dt_xlator *x, const char *name)
{
	for (dt_xmember *m = x->members; m; m = m->next)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* As for assignment; and an array can be made of what points to its elements, of characters also of a string. */
static dt_node *fit_member(dt_compiler *cc, dt_node *n, dt_type *to)
{
	dt_type *t = dt_type_resolve(to);

	if (dt_type_is_array(t) && !dt_type_compatible(cc->types, t, n->type)) {
		if (dt_type_is_string_compat(t) && dt_type_is_string_compat(n->type))
			return dt_to_string(cc, n);
		if (!dt_type_is_pointer(n->type) || !dt_pointers_fit(cc, t, n->type))
			return NULL;
		n = dt_coerce(cc, n, to);
		return n;
	}
	if (dt_is_null(n) && dt_type_is_byref(t) && !dt_type_is_string(t))
		return NULL;
	return dt_convert(cc, n, to);
}

static dt_node *member_value(dt_compiler *cc, dt_xlator *x, dt_xmember *m, dt_node *input,
			     const dt_node *use)
{
	struct dt_binding b = {x->param, input, NULL};
	dt_pos pos = use->pos;
	const dt_member *decl;
	uint64_t bits;
	dt_node *n, *out;

	decl = dt_type_member(cc->types, strip_pointer(x->out), m->name, &bits);
	if (!decl)
		dt_fail(cc, pos, D_XLATE_MEMB, "%s is not a member of %s", m->name,
			dt_tname(cc, x->out));
	n = check_with(cc, m->expr, &b, use);
	if (n->kind == N_XLATE && dt_type_compatible(cc->types, n->ctype, decl->type))
		return n; /* a member that is itself translated */
	out = fit_member(cc, n, decl->type);
	if (!out)
		dt_fail(cc, pos, D_XLATE_INCOMPAT,
			"translator member %s is of type %s, but its definition is of type %s",
			m->name, dt_tname(cc, decl->type),
			dt_tname(cc, n->kind == N_XLATE ? n->ctype : n->type));
	out->pos = pos;
	return out;
}

_Noreturn static void not_translated(dt_compiler *cc, const dt_xlator *x, const char *member,
				     dt_pos pos)
{
	DT_VEC(const char *) names = {0};

	for (const dt_xmember *m = x->members; m; m = m->next)
		*dt_vec_add(&names, cc->arena) = m->name;
	dt_fail(cc, pos, D_XLATE_NOCONV,
		"the translator from %s to %s does not define member %s%s", dt_tname(cc, x->in),
		dt_tname(cc, x->out), member, dt_did_you_mean(member, names.v, names.n).text);
}

dt_node *dt_expand_member(dt_compiler *cc, dt_node *xlate, const char *member, const dt_node *use)
{
	dt_pos pos = use->pos;
	dt_xlator *x = dt_xlator_find(cc, xlate->l->type, xlate->ctype);
	dt_xmember *m = x ? find_member(x, member) : NULL;
	dt_attr before = cc->clause_attr;
	dt_node *n;

	if (!x)
		dt_fail(cc, pos, D_XLATE_NONE, "no translator is defined for %s to %s",
			dt_tname(cc, xlate->l->type), dt_tname(cc, xlate->ctype));
	if (!m)
		not_translated(cc, x, member, pos);
	cc->unjudged++;
	n = member_value(cc, x, m, xlate->l, use);
	cc->unjudged--;
	cc->clause_attr = before;
	dt_use_attr(cc, pos, x->attr, member);
	return n;
}

/* When a translator is defined, each member is checked with the formal as an opaque value, so that
 * an error in a library is reported at the library's line, not at its first use. */
void dt_xlator_check(dt_compiler *cc, dt_xlator *x)
{
	cc->defining = true;
	for (dt_xmember *m = x->members; m; m = m->next) {
		dt_node *input = opaque(cc, x->param, x->in, m->pos);

		cc->expanded = 0;
		member_value(cc, x, m, input, input);
	}
	cc->defining = false;
}

/* ---- whole objects ---- */

/* At most as many characters of a string as fit into an array, with the NUL after them. */
static dt_node *cut_string(dt_compiler *cc, dt_node *s, uint64_t room)
{
	dt_node *call = dt_node_new(cc, N_FUNC, s->pos), *from, *len;

	from = dt_node_int(cc, s->pos, 0, dt_intrinsics(cc->types)->int_);
	len = dt_node_int(cc, s->pos, room - 1, dt_intrinsics(cc->types)->int_);
	from->flags |= NF_CHECKED;
	len->flags |= NF_CHECKED;
	call->ident = dt_map_get(cc->shared->globals, "substr");
	call->name = call->ident->name;
	call->args = dt_to_string(cc, s);
	call->args->next = from;
	from->next = len;
	call->type = dt_intrinsics(cc->types)->string;
	call->flags = NF_REF | NF_CHECKED;
	return call;
}

/* member = value, where the object is only an offset; NULL: a translated pointer, which has no value */
static dt_node *member_store(dt_compiler *cc, dt_node *object, const dt_xmember *m)
{
	dt_type *sou = strip_pointer(object->ctype);
	dt_node *to = dt_node_new(cc, N_OP2, object->pos), *v, *assign;

	to->op = '.';
	to->name = m->name;
	dt_place_member(cc, to, sou);
	v = dt_xlate_object(dt_expand_member(cc, object, m->name, object));
	if (dt_type_is_dyn(v->type))
		return NULL;
	if (dt_type_is_array(to->type) && dt_type_is_string(v->type)) {
		v = cut_string(cc, v, dt_type_resolve(to->type)->nelems);
		to->type = v->type; /* stored as one */
	}
	assign = dt_node_op2(cc, '=', to, v);
	assign->flags |= NF_CHECKED;
	return assign;
}

dt_node *dt_xlate_members(dt_compiler *cc, dt_node *object)
{
	dt_xlator *x = dt_xlator_find(cc, object->l->type, object->ctype);
	dt_node *first = NULL, **last = &first;

	for (const dt_xmember *m = x ? x->members : NULL; m; m = m->next) {
		if (find_member(x, m->name) != m)
			continue; /* the first of two counts */
		*last = member_store(cc, object, m);
		if (*last)
			last = &(*last)->next;
	}
	return first;
}
