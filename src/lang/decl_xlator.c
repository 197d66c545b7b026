/*
 * decl_xlator: translator definitions.
 *
 *   translator OUT < IN name > { member = expression; ... };
 *
 * The expressions are kept as parsed: each use of a member copies its expression and binds the
 * formal to the translated object. They are checked once here, so that an error in a library is
 * reported at its own line.
 */
#include "lang/decl.h"

#define MAX_SAME_OUTPUT 4096 /* they are searched one by one */

static void check_output(dt_compiler *cc, const dt_xlator *x)
{
	if (!dt_type_is_sou(x->out))
		dt_fail(cc, x->pos, D_XLATE_SOU,
			"the output of a translator must be a struct or union, "
			"not %s",
			dt_tname(cc, x->out));
	if (!dt_type_is_complete(cc->types, x->out))
		dt_fail(cc, x->pos, D_XLATE_SOU, "%s, the output of a translator, is incomplete",
			dt_tname(cc, x->out));
	dt_type_complete(cc->types, dt_type_resolve(x->out));
	if (cc->module && !strstr(dt_tname(cc, x->out), "::"))
		dt_fail(cc, x->pos, D_MODULE, "module %s can only translate to types of its own, not to %s",
			cc->module->name, dt_tname(cc, x->out));
}

static dt_type *parse_input(dt_compiler *cc, const char **formal)
{
	dt_specs s;
	dt_declarator d = {0};
	dt_type *t;

	dt_parse_specs(cc, DECL_PARAM, &s);
	dt_parse_declarator(cc, DECL_PARAM, NAME_REQUIRED, &d);
	t = dt_declared_type(cc, &s, &d, 0);
	if (dt_type_is_void(t) || dt_type_is_dyn(t))
		dt_check_object_type(cc, d.pos, d.name, t);
	*formal = d.name;
	return t;
}

static void check_new(dt_compiler *cc, const dt_xlator *x)
{
	uint32_t n = 0;

	for (const dt_xlator *o = dt_xlators_to(cc, x->out); o; o = o->next) {
		if (++n > MAX_SAME_OUTPUT)
			dt_fail(cc, x->pos, D_SYNTAX, "more than %d translators to %s",
				MAX_SAME_OUTPUT, dt_tname(cc, x->out));
		if (dt_type_resolve(o->out) == dt_type_resolve(x->out) &&
		    dt_type_equal(cc->types, o->in, x->in))
			dt_fail(cc, x->pos, D_XLATE_REDECL,
				"a translator from %s to %s was defined before",
				dt_tname(cc, x->in), dt_tname(cc, x->out));
	}
}

/* member "=" expression */
static dt_xmember *parse_member(dt_compiler *cc)
{
	dt_xmember *m = dt_arena_alloc(cc->arena, sizeof(*m));

	m->pos = cc->lex.tok.pos;
	m->name = dt_parse_member_name(cc);
	dt_lex_expect(cc, '=', "=");
	cc->nlinks = 0;
	m->expr = dt_parse_assign(cc);
	return m;
}

static void parse_body(dt_compiler *cc, dt_xlator *x)
{
	dt_xmember **last = &x->members;

	dt_lex_expect(cc, '{', "{");
	while (cc->lex.tok.kind != '}') {
		*last = parse_member(cc);
		last = &(*last)->next;
		if (cc->lex.tok.kind != '}')
			dt_lex_expect(cc, ';', ";");
	}
	dt_lex_next(cc);
	if (cc->lex.tok.kind != ';')
		dt_syntax(cc, "syntax error: expected ; after a translator");
}

/* Of several that fit, the first definition is used, so it stays first. */
static void append(dt_compiler *cc, dt_xlator *x)
{
	const char *tag = dt_type_resolve(x->out)->name;
	dt_xlator *o = dt_xlators_to(cc, x->out);

	if (!o) {
		dt_map_set(cc->shared->xlators, tag ? tag : "", x);
		return;
	}
	while (o->next)
		o = o->next;
	o->next = x;
}

void dt_xlators_undo(dt_compiler *cc)
{
	const char *tag;
	void *first;
	uint32_t it = 0;

	/* one of a library that this compile needed may stand between its own */
	while (dt_map_next(cc->shared->xlators, &it, &tag, &first)) {
		dt_xlator *kept = NULL, **last = &kept;

		for (dt_xlator *x = first; x; x = x->next) {
			if (x->generation == cc->generation)
				continue;
			*last = x;
			last = &x->next;
		}
		*last = NULL;
		if (kept != first)
			dt_map_set(cc->shared->xlators, tag, kept);
	}
}

void dt_parse_translator(dt_compiler *cc)
{
	dt_xlator *x = dt_arena_alloc(cc->arena, sizeof(*x));
	dt_param *formal = dt_arena_alloc(cc->arena, sizeof(*formal));

	x->pos = cc->lex.tok.pos;
	x->generation = cc->generation;
	x->attr = (dt_attr){DT_STAB_STABLE, DT_STAB_STABLE, DT_CLASS_COMMON};
	x->version = DT_VERSION(1, 0, 0);
	dt_lex_next(cc); /* translator */
	x->out = dt_parse_type_name(cc);
	dt_lex_expect(cc, '<', "<");
	x->in = parse_input(cc, &x->param);
	dt_lex_expect(cc, '>', ">");
	*formal = (dt_param){x->param, x->in};
	cc->formals = formal;
	cc->nformals = 1;
	parse_body(cc, x);
	cc->nformals = 0;
	check_new(cc, x); /* only now: the whole declaration is read first */
	check_output(cc, x);
	dt_pragma_apply_xlator(cc, x);
	if (!cc->src || !cc->src->is_ours)
		dt_xlator_check(cc, x);
	append(cc, x);
}
