/*
 * function: inlines with a body.
 *
 *	inline int64_t clamp(int64_t x, int64_t low, int64_t high)
 *	{
 *		int64_t most = x < high ? x : high;
 *
 *		if (most < low)
 *			return low;
 *		return most;
 *	}
 *
 * The body becomes one expression when it is read: statements are joined by commas, if by ?:, and
 * return is the value of what it ends. So a function can stand wherever an expression can, in DIF
 * there is nothing new, and everything the checker does for inlines holds for functions.
 *
 *	(most = x < high ? x : high, most < low ? low : most)
 *
 * A return that ends neither branch of an if leaves the value in a hidden variable, and a flag that
 * what follows looks at.
 *
 * At a call, parameters and local variables are hidden clause-local variables. An argument is
 * assigned to its parameter first, so it is evaluated once; a constant is pasted instead, if the
 * parameter is not assigned to, and so is a variable, if the function assigns nothing. In
 * f(1, f(2, 3)) the inner call must not overwrite the outer one's parameter, so the names of the
 * variables contain the depth of the call.
 *
 * A large function is not repeated at each call: its expression is marked, and becomes a DIFO of its
 * own (gen_function.c). Then nothing is pasted.
 *
 * Functions without a value are different: procedure.c.
 *
 * A function is known after its body, so it cannot call itself; dt_function_cycle() says so.
 */
#include "lang/function.h"

/* ---- reading the body ---- */

static void check_name_type(dt_compiler *cc, dt_pos pos, const char *name, dt_type *t)
{
	dt_check_object_type(cc, pos, name, t);
	if (!dt_type_is_string(t) && (!dt_type_is_scalar(t) || dt_type_is_float(t)))
		dt_fail(cc, pos, D_DECL_CLASS, "%s cannot be %s: in a function there are integers, pointers and strings",
			name, dt_tname(cc, t));
}

static void add_name(dt_compiler *cc, struct dt_function *f, dt_pos pos, const char *name, dt_type *t)
{
	for (uint32_t i = 0; i < f->nnames; i++)
		if (strcmp(f->names[i].name, name) == 0)
			dt_fail(cc, pos, D_DECL_IDRED, "\"%s\" is declared twice in function %s", name, f->name);
	if (f->nnames == DT_FUNCTION_NAMES)
		dt_fail(cc, pos, D_DECL_IDRED, "function %s has more than %d parameters and variables", f->name, DT_FUNCTION_NAMES);
	check_name_type(cc, pos, name, t);
	f->names[f->nnames++] = (dt_param){name, t};
	cc->nformals = f->nnames;
}

static dt_node *name_node(dt_compiler *cc, const char *name, dt_pos pos)
{
	dt_node *n = dt_node_new(cc, N_IDENT, pos);

	n->name = name;
	return n;
}

/* What a variable without a value begins with. */
static dt_node *zero(dt_compiler *cc, dt_type *t, dt_pos pos)
{
	dt_node *n;

	if (!dt_type_is_string(t))
		return dt_node_int(cc, pos, 0, dt_intrinsics(cc->types)->int_);
	n = dt_node_new(cc, N_STRING, pos);
	n->str = "";
	return n;
}

dt_node *dt_expr_stmt(dt_compiler *cc, dt_node *e)
{
	dt_node *s = dt_node_new(cc, N_EXPR_STMT, e->pos);

	s->l = e;
	return s;
}

/* type name [ "=" value ] { "," name [ "=" value ] } ";" is a list of assignments */
static dt_node *parse_locals(dt_compiler *cc)
{
	dt_node *first = NULL, **last = &first;
	dt_specs s;

	dt_parse_specs(cc, DECL_PARAM, &s);
	for (;;) {
		dt_declarator d = {0};
		dt_node *value = NULL;
		dt_type *t;

		dt_parse_declarator(cc, DECL_PARAM, NAME_REQUIRED, &d);
		t = dt_declared_type(cc, &s, &d, 0);
		cc->nlinks = 0;
		if (cc->lex.tok.kind == '=') {
			dt_lex_next(cc);
			value = dt_parse_assign(cc); /* does not see the name yet */
		}
		add_name(cc, cc->function, d.pos, d.name, t);
		*last = dt_expr_stmt(cc, dt_node_op2(cc, '=', name_node(cc, d.name, d.pos),
						  value ? value : zero(cc, t, d.pos)));
		last = &(*last)->next;
		if (cc->lex.tok.kind != ',')
			break;
		dt_lex_next(cc);
	}
	return first;
}

static dt_node *parse_return(dt_compiler *cc)
{
	const struct dt_function *f = cc->function;
	dt_node *n = dt_node_new(cc, N_RETURN, cc->lex.tok.pos);

	dt_lex_next(cc);
	if (cc->lex.tok.kind != ';' && cc->lex.tok.kind != '}') {
		cc->nlinks = 0;
		n->l = dt_parse_expr(cc);
	}
	if (dt_type_is_void(f->type) == (n->l != NULL))
		dt_fail(cc, n->pos, D_SYNTAX, "function %s %s a value", f->name,
			n->l ? "is void and cannot return" : "must return");
	return n;
}

bool dt_function_statement(dt_compiler *cc, dt_node **out)
{
	struct dt_function *f = cc->function;
	const dt_token *t = &cc->lex.tok;

	if (!f)
		return false;
	if (++f->nstatements > DT_FUNCTION_STATEMENTS)
		dt_fail(cc, t->pos, D_SYNTAX, "function %s has more than %d statements", f->name, DT_FUNCTION_STATEMENTS);
	if (t->kind == T_RETURN)
		*out = parse_return(cc);
	else if (dt_starts_type(cc) || (t->kind == T_IDENT && dt_lex_peek(cc, 0)->kind == T_IDENT))
		*out = parse_locals(cc);
	else
		return false;
	if (cc->lex.tok.kind != '}')
		dt_lex_expect(cc, ';', ";");
	return true;
}

void dt_function_cycle(dt_compiler *cc, const char *name, dt_pos pos)
{
	const dt_compiler *first = cc;
	const char *text = name;

	while (first && !(first->function && strcmp(first->function->name, name) == 0))
		first = first->outer;
	if (!first)
		return;
	for (const dt_compiler *c = cc; c != first->outer; c = c->outer)
		if (c->function)
			text = dt_arena_printf(cc->arena, "%s calls %s", c->function->name, text);
	dt_fail(cc, pos, D_FUNC_UNDEF, "a function cannot call itself: %s", text);
}

/* ---- statements to an expression ---- */

enum dt_ends dt_how_ends(const dt_node *list)
{
	enum dt_ends r = ENDS_NEVER;

	for (; list && r != ENDS_ALWAYS; list = list->next) {
		if (list->kind == N_RETURN)
			r = ENDS_ALWAYS;
		if (list->kind == N_IF) {
			enum dt_ends a = dt_how_ends(list->l), b = dt_how_ends(list->r);
			enum dt_ends both = a == b ? a : ENDS_SOMETIMES;
			r = both > r ? both : r;
		}
	}
	return r;
}

static dt_node *comma(dt_compiler *cc, dt_node *before, dt_node *n)
{
	dt_node *c;

	if (!before)
		return n;
	c = dt_node_op2(cc, ',', before, n);
	c->pos = n->pos;
	return c;
}

static dt_node *choice(dt_compiler *cc, dt_node *c, dt_node *l, dt_node *r)
{
	dt_node *n = dt_node_new(cc, N_OP3, c->pos);

	n->c = c;
	n->l = l;
	n->r = r;
	return n;
}

static dt_node *number(dt_compiler *cc, uint64_t v, dt_pos pos)
{
	return dt_node_int(cc, pos, v, dt_intrinsics(cc->types)->int_);
}

static dt_node *assign_hidden(dt_compiler *cc, const char *name, dt_node *value)
{
	return dt_node_op2(cc, '=', name_node(cc, name, value->pos), value);
}

/* The statements of a, then those of b. */
dt_node *dt_append(dt_node *a, dt_node *b)
{
	dt_node **last = &a;

	while (*last)
		last = &(*last)->next;
	*last = b;
	return a;
}

/* Each in the type of the function: -1 stays -1 even if another return has an unsigned value. */
static dt_node *returned(dt_compiler *cc, dt_node *value)
{
	dt_node *n = dt_node_op1(cc, '(', value);

	n->ctype = cc->function->type;
	n->flags |= NF_RETURNED;
	return n;
}

#define DONE   "%done"
#define RESULT "%result"

/* `inside`: the value goes to RESULT, and DONE is set where there was a return. Otherwise it is the
 * value of the expression. */
static dt_node *to_expression(dt_compiler *cc, dt_node *list, bool inside, dt_pos end);

static dt_node *if_expression(dt_compiler *cc, dt_node *before, dt_node *s, bool inside, dt_pos end)
{
	enum dt_ends a = dt_how_ends(s->l), b = dt_how_ends(s->r);
	dt_node *n, *rest;

	if (a == ENDS_ALWAYS)
		return comma(cc, before, choice(cc, s->c, to_expression(cc, s->l, inside, end),
						to_expression(cc, dt_append(s->r, s->next), inside, end)));
	if (b == ENDS_ALWAYS)
		return comma(cc, before, choice(cc, s->c, to_expression(cc, dt_append(s->l, s->next), inside, end),
						to_expression(cc, s->r, inside, end)));
	before = comma(cc, before, assign_hidden(cc, DONE, number(cc, 0, s->pos)));
	n = choice(cc, s->c, to_expression(cc, s->l, true, end), to_expression(cc, s->r, true, end));
	before = comma(cc, before, n);
	rest = to_expression(cc, s->next, inside, end);
	n = inside ? number(cc, 0, s->pos) : name_node(cc, RESULT, s->pos);
	return comma(cc, before, choice(cc, name_node(cc, DONE, s->pos), n, rest));
}

static dt_node *to_expression(dt_compiler *cc, dt_node *list, bool inside, dt_pos end)
{
	dt_node *before = NULL, *n;

	dt_depth_enter(cc, end);
	for (; list; list = list->next) {
		if (list->kind == N_RETURN) {
			n = !inside ? returned(cc, list->l)
				    : comma(cc, assign_hidden(cc, RESULT, list->l),
					    assign_hidden(cc, DONE, number(cc, 1, list->pos)));
			if (list->next)
				dt_fail(cc, list->next->pos, D_SYNTAX, "no statement is reached after a return");
			dt_depth_leave(cc);
			return comma(cc, before, n);
		}
		if (list->kind == N_IF && (dt_how_ends(list->l) || dt_how_ends(list->r))) {
			n = if_expression(cc, before, list, inside, end);
			dt_depth_leave(cc);
			return n;
		}
		n = list->kind != N_IF ? list->l
				       : choice(cc, list->c, to_expression(cc, list->l, true, end),
						to_expression(cc, list->r, true, end));
		before = comma(cc, before, n);
	}
	if (!inside)
		dt_fail(cc, end, D_SYNTAX, "function %s can end without a return", cc->function->name);
	dt_depth_leave(cc);
	return comma(cc, before, number(cc, 0, end)); /* both branches of an if have a type */
}

/* ---- a body with loops stays statements (hoist.c) ---- */

static bool has_loops(dt_compiler *cc, const dt_node *n)
{
	for (; n; n = n->next) {
		const dt_ident *id = n->kind == N_CALL ? dt_ident_find(cc, n->name, 0) : NULL;

		if (n->kind == N_LOOP || n->kind == N_SWITCH || (id && id->kind == ID_FUNC && id->inl->loops))
			return true;
		if (has_loops(cc, n->c) || has_loops(cc, n->l) || has_loops(cc, n->r) || has_loops(cc, n->args))
			return true;
	}
	return false;
}

/* return value; -> result = value; return; */
static dt_node *returns_to_result(dt_compiler *cc, dt_node *list)
{
	for (dt_node *s = list; s; s = s->next) {
		if (s->kind == N_EXPR_STMT)
			continue;
		if (s->kind != N_RETURN) {
			s->l = returns_to_result(cc, s->l);
			s->r = returns_to_result(cc, s->r);
		} else if (s->l) {
			dt_node *leave = dt_node_new(cc, N_RETURN, s->pos);

			leave->next = s->next;
			s->kind = N_EXPR_STMT;
			s->l = assign_hidden(cc, RESULT, returned(cc, s->l));
			s->next = leave;
		}
	}
	return list;
}

static dt_node *to_statements(dt_compiler *cc, dt_node *body)
{
	if (dt_how_ends(body) != ENDS_ALWAYS)
		dt_fail(cc, cc->lex.tok.pos, D_SYNTAX, "function %s can end without a return",
			cc->function->name);
	return dt_without_returns(cc, returns_to_result(cc, body));
}

/* ---- what the body does ---- */

struct effects {
	const struct dt_function *f;
	uint64_t assigned; /* parameters and variables, by number */
	bool any;
};

static void note_target(struct effects *e, const dt_node *n)
{
	e->any = true;
	for (uint32_t i = 0; n->kind == N_IDENT && !n->scope && i < e->f->nnames; i++)
		if (strcmp(e->f->names[i].name, n->name) == 0)
			e->assigned |= 1ull << i;
}

/* Also refuses what only a statement of a clause can do, if there is a value. */
static void find_effects(dt_compiler *cc, const dt_node *n, struct effects *e)
{
	for (; n; n = n->next) {
		const dt_ident *id = n->kind == N_CALL ? dt_call_ident(cc, n) : NULL;

		if (!dt_type_is_void(e->f->type) && (n->kind == N_AGG || (id && (id->kind == ID_ACTION || id->kind == ID_AGGFUNC))))
			dt_fail(cc, n->pos, D_CG_EXPR, "function %s returns a value, so it cannot use %s%s", e->f->name,
				n->kind == N_AGG ? "@" : "", n->kind == N_AGG ? n->name : id->name);
		if (n->kind == N_OP2 && dt_is_assign_op(n->op))
			note_target(e, n->l);
		if (n->kind == N_OP1 && (n->op == '&' || dt_is_step_op(n->op)))
			note_target(e, n->l);
		e->any |= id && id->kind == ID_FUNC && id->inl->assigns;
		find_effects(cc, n->c, e);
		find_effects(cc, n->l, e);
		find_effects(cc, n->r, e);
		find_effects(cc, n->args, e);
	}
}

/* ---- the definition ---- */

static struct dt_function *start_function(dt_compiler *cc, const dt_declarator *d, dt_type *type)
{
	const dt_derive *params = &d->derive.v[0];
	struct dt_function *f = dt_arena_alloc(cc->arena, sizeof(*f));

	f->name = d->name;
	f->type = type;
	cc->formals = f->names;
	if (params->varargs && params->nparams) /* () is written without void */
		dt_fail(cc, params->pos, D_DECL_PROTO_FORM, "function %s must have a fixed number of parameters", d->name);
	for (uint32_t i = 0; i < params->nparams; i++) {
		if (!params->params[i].name)
			dt_fail(cc, params->pos, D_DECL_PROTO_FORM, "parameter %u of function %s needs a name", i + 1,
				d->name);
		add_name(cc, f, params->pos, params->params[i].name, params->params[i].type);
	}
	f->nparams = f->nnames;
	cc->nformals = f->nnames;
	return f;
}

/* The body, and what there is to know about it. */
static struct dt_inline *finish_function(dt_compiler *cc, dt_node *body, dt_pos start)
{
	struct dt_function *f = cc->function;
	struct dt_inline *inl = dt_arena_alloc(cc->arena, sizeof(*inl));
	struct effects e = {.f = f};

	inl->loops = !dt_type_is_void(f->type) && has_loops(cc, body);
	if (dt_type_is_void(f->type)) {
		inl->expr = dt_without_returns(cc, body);
	} else {
		inl->expr = inl->loops ? to_statements(cc, body)
				       : to_expression(cc, body, false, cc->lex.tok.pos);
		add_name(cc, f, start, DONE, dt_intrinsics(cc->types)->int_);
		add_name(cc, f, start, RESULT, f->type);
		inl->result = f->nnames - 1;
	}
	inl->returns = (inl->loops || dt_type_is_void(f->type)) && dt_has_return(inl->expr);
	find_effects(cc, inl->expr, &e);
	inl->params = f->names;
	inl->nparams = f->nparams;
	inl->nnames = f->nnames;
	inl->assigned = e.assigned;
	inl->assigns = e.any;
	inl->shared = !dt_type_is_void(f->type) && !inl->loops && dt_node_count(inl->expr) >= DT_SHARED_NODES;
	return inl;
}

void dt_parse_function(dt_compiler *cc, const dt_declarator *d, dt_type *type)
{
	struct dt_inline *inl;
	dt_node *body;
	dt_ident *id;

	if (!dt_type_is_void(type))
		check_name_type(cc, d->pos, d->name, type);
	cc->function = start_function(cc, d, type);
	dt_lex_next(cc); /* { */
	body = dt_parse_statements(cc);
	if (cc->lex.tok.kind != '}')
		dt_syntax(cc, NULL);
	inl = finish_function(cc, body, d->pos);
	cc->nformals = 0;
	id = dt_ident_new(cc, d->name, ID_FUNC, 0, d->pos);
	id->inl = inl;
	id->type = type;
	id->flags |= IDF_TYPED;
	if (dt_type_is_void(type) || inl->loops)
		dt_procedure_check(cc, id);
	else
		dt_inline_check(cc, id);
	cc->function = NULL;
}

/* ---- calls ---- */

dt_node *dt_hidden_variable(dt_compiler *cc, const char *name, dt_type *type, dt_pos pos)
{
	dt_ident *v = dt_ident_find(cc, name, T_THIS);
	dt_node *n = dt_node_new(cc, N_IDENT, pos);

	if (!v) {
		v = dt_ident_new(cc, name, ID_SCALAR, T_THIS, pos);
		v->type = type;
		v->flags |= IDF_TYPED;
	}
	n->scope = T_THIS;
	n->name = name;
	return n;
}

/* The variable of a parameter or local variable of a call at this depth, or of all calls. */
dt_node *dt_function_slot(dt_compiler *cc, const dt_ident *id, uint32_t i, dt_pos pos)
{
	const dt_param *p = &id->inl->params[i];
	const char *name = dt_is_apart(cc, id) ? dt_arena_printf(cc->arena, "%%%s:%s", id->name, p->name)
					       : dt_arena_printf(cc->arena, "%%%s:%s:%u", id->name, p->name, cc->calls);

	return dt_hidden_variable(cc, name, p->type, pos);
}

static bool can_paste(const struct dt_inline *inl, uint32_t i, const dt_node *arg)
{
	if (inl->shared || inl->assigned >> i & 1) /* the code must not depend on the call */
		return false;
	return arg->kind == N_INT || arg->kind == N_STRING ||
	       (arg->kind == N_VAR && !arg->args && !(arg->flags & NF_REF) && !inl->assigns);
}

/* An argument to its variable, in front of what there is to evaluate; or it is what the parameter means. */
static dt_node *bind_argument(dt_compiler *cc, const dt_ident *id, uint32_t i, dt_node *arg, dt_node *before,
			      struct dt_binding *b)
{
	dt_type *type = id->inl->params[i].type;
	dt_node *v = dt_check(cc, arg), *from = v->kind == N_XLATE ? v->l : dt_convert(cc, v, type), *assign;

	if (!from || (v->kind == N_XLATE && !dt_type_compatible(cc->types, v->ctype, type)))
		dt_fail(cc, arg->pos, D_PROTO_ARG, "%s( ) argument #%u is %s, but %s is needed", id->name, i + 1,
			v->kind == N_XLATE ? dt_tname(cc, v->ctype) : dt_what(cc, v), dt_tname(cc, type));
	from->next = NULL;
	*b = (struct dt_binding){id->inl->params[i].name, v->kind == N_XLATE ? v : from, b->next};
	if (v->kind == N_XLATE || can_paste(id->inl, i, from))
		return before;
	b->value = dt_check(cc, dt_function_slot(cc, id, i, arg->pos));
	assign = dt_check(cc, dt_node_op2(cc, '=', dt_node_copy(cc, b->value), from));
	return before ? dt_check(cc, comma(cc, before, assign)) : assign;
}

/* A cast to its own type, which the generator knows by the flag. */
static dt_node *share(dt_compiler *cc, dt_node *value, const dt_node *call)
{
	dt_node *n;

	if (value->kind == N_INT || value->kind == N_XLATE || dt_type_is_dyn(value->type))
		return value;
	n = dt_node_new(cc, N_OP1, call->pos);
	*n = *value;
	n->kind = N_OP1;
	n->op = '(';
	n->flags = (n->flags & ~(NF_LVAL | NF_WRITABLE | NF_BITFIELD)) | NF_SHARED;
	n->pos = call->pos;
	n->from = call->from;
	n->written = call->written;
	n->use = call->use;
	n->l = value;
	n->r = n->c = n->args = n->next = NULL;
	return n;
}

/* The value of a call whose names have been bound. That of a large function is the same for all calls at one depth of
 * a clause, unless a translated object was bound. */
static dt_node *body_value(dt_compiler *cc, dt_ident *id, struct dt_binding *names, const dt_node *call)
{
	struct dt_inline *inl = id->inl;
	bool keep = inl->shared;
	dt_node *value;

	for (const struct dt_binding *b = names; b; b = b->next)
		keep = keep && b->value->kind != N_XLATE;
	if (keep && inl->known.value && inl->known.clause == cc->shared->clause && inl->known.depth == cc->calls)
		return share(cc, inl->known.value, call);
	cc->calls++;
	value = dt_expand_body(cc, id, names, call);
	cc->calls--;
	if (keep) {
		inl->known.clause = cc->shared->clause;
		inl->known.depth = cc->calls;
		inl->known.value = value;
	}
	return inl->shared ? share(cc, value, call) : value;
}

dt_node *dt_expand_function(dt_compiler *cc, dt_ident *id, dt_node *call)
{
	const struct dt_inline *inl = id->inl;
	const dt_node *as_written = dt_node_copy(cc, call);
	struct dt_binding *b = NULL, *one;
	dt_node *before = NULL, *value, *next;
	uint32_t i = 0;

	call->ident = id;
	if (dt_type_is_void(id->type))
		dt_fail(cc, call->pos, D_FUNC_IDKIND, "%s( ) has no value: it can only be a statement by itself", id->name);
	if (inl->loops)
		dt_refuse_loops(cc, id, call->pos);
	dt_check_args_count(cc, call, inl->nparams, inl->nparams, D_PROTO_LEN);
	for (dt_node *a = call->args; a; a = next, i++) {
		next = a->next;
		a->next = NULL;
		one = dt_arena_alloc(cc->arena, sizeof(*one));
		one->next = b;
		cc->calls++;
		a = dt_check(cc, a);
		cc->calls--;
		before = bind_argument(cc, id, i, a, before, one);
		b = one;
	}
	for (; i < inl->nnames; i++) {
		one = dt_arena_alloc(cc->arena, sizeof(*one));
		*one = (struct dt_binding){inl->params[i].name, dt_check(cc, dt_function_slot(cc, id, i, call->pos)), b};
		b = one;
	}
	value = body_value(cc, id, b, as_written);
	return before ? dt_check(cc, comma(cc, before, value)) : value;
}
