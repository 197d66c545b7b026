/*
 * procedure: functions of type void.
 *
 *	inline void note(string what, int n)
 *	{
 *		printf("%s %d\\n", what, n);
 *		@[what] = sum(n);
 *	}
 *
 * They have no value, so their calls are statements, and they can do what a clause can: print,
 * aggregate, speculate. A call is replaced by the statements of the body before the clause is
 * compiled, so a clause that calls them is the clause that could have been written without them.
 *
 * Parameters and local variables are hidden clause-local variables, as in functions with a value
 * (function.c): each argument is assigned to its own first. Constants are pasted, so that a format
 * can be an argument.
 */
#include "lang/function.h"

/* ---- return ---- */

static void count(dt_compiler *cc, const dt_node *list)
{
	cc->function->nstatements += dt_list_len(list);
	if (cc->function->nstatements > DT_FUNCTION_STATEMENTS)
		dt_fail(cc, list->pos, D_SYNTAX, "function %s needs more than %d statements, because of returns inside of if",
			cc->function->name, DT_FUNCTION_STATEMENTS);
}

/* What follows an if that may return belongs to the branches that do not. */
static void close_branches(dt_compiler *cc, dt_node *s)
{
	dt_node *rest = s->next;
	enum dt_ends l = dt_how_ends(s->l), r = dt_how_ends(s->r);

	if (rest && l != ENDS_ALWAYS && r != ENDS_ALWAYS)
		count(cc, rest);
	if (l != ENDS_ALWAYS)
		s->l = dt_append(s->l, r != ENDS_ALWAYS ? dt_node_copy_list(cc, rest) : rest);
	if (r != ENDS_ALWAYS)
		s->r = dt_append(s->r, rest);
	s->next = NULL;
	dt_depth_enter(cc, s->pos);
	s->l = dt_without_returns(cc, s->l);
	s->r = dt_without_returns(cc, s->r);
	dt_depth_leave(cc);
}

bool dt_has_return(const dt_node *list)
{
	for (; list; list = list->next)
		if (list->kind == N_RETURN ||
		    (list->kind != N_EXPR_STMT && (dt_has_return(list->l) || dt_has_return(list->r))))
			return true;
	return false;
}

dt_node *dt_without_returns(dt_compiler *cc, dt_node *list)
{
	dt_node *first = list, **link;

	for (link = &first; *link; link = &(*link)->next) {
		dt_node *s = *link;

		if (s->kind == N_RETURN && s->next)
			dt_fail(cc, s->next->pos, D_SYNTAX, "no statement is reached after a return");
		if (s->kind == N_RETURN) {
			*link = NULL;
			break;
		}
		if (s->kind == N_IF && (dt_how_ends(s->l) || dt_how_ends(s->r)))
			close_branches(cc, s);
	}
	return first;
}

/* ---- what names mean in a call ---- */

struct meaning {
	const dt_ident *id;
	dt_node *const *values; /* by number */
};

static void replace_in(dt_compiler *cc, dt_node **link, const struct meaning *m);

static void replace_name(dt_compiler *cc, dt_node **link, const struct meaning *m)
{
	dt_node *n = *link, *v = NULL;

	for (uint32_t i = 0; i < m->id->inl->nnames && !v; i++)
		if (strcmp(m->id->inl->params[i].name, n->name) == 0)
			v = dt_node_copy(cc, m->values[i]);
	if (!v)
		return;
	v->pos = n->pos;
	if (n->flags & NF_HAS_KEYS) {
		v = dt_node_op2(cc, '[', v, n->args);
		v->pos = n->pos;
	}
	v->next = n->next;
	*link = v;
}

static void replace_in(dt_compiler *cc, dt_node **link, const struct meaning *m)
{
	for (; *link; link = &(*link)->next) {
		dt_node *n = *link;

		replace_in(cc, &n->c, m);
		replace_in(cc, &n->l, m);
		replace_in(cc, &n->r, m);
		replace_in(cc, &n->args, m);
		if (n->kind == N_IDENT && !n->scope)
			replace_name(cc, link, m);
	}
}

/* ---- calls ---- */

static const dt_ident *procedure_called(dt_compiler *cc, const dt_node *s)
{
	const dt_ident *id;

	if (s->kind != N_EXPR_STMT || !s->l || s->l->kind != N_CALL)
		return NULL;
	id = dt_ident_find(cc, s->l->name, 0);
	return id && id->kind == ID_FUNC && dt_type_is_void(id->type) ? id : NULL;
}

static bool is_constant(const dt_node *a, const dt_type *t)
{
	return a->kind == N_STRING ? dt_type_is_string(t) : a->kind == N_INT && dt_type_is_integer(t);
}

/* Assignments of the arguments; values: what the names mean. */
static dt_node *bind(dt_compiler *cc, const dt_ident *id, const dt_node *call, dt_node **values)
{
	const struct dt_inline *inl = id->inl;
	uint64_t pasted = ~inl->assigned & (dt_is_apart(cc, id) ? inl->constants : UINT64_MAX);
	dt_node *first = NULL, **last = &first, *next;
	uint32_t i = 0;

	for (dt_node *a = call->args; a; a = next, i++) {
		next = a->next;
		a->next = NULL;
		values[i] = pasted >> i & 1 && is_constant(a, inl->params[i].type) ? a : dt_function_slot(cc, id, i, a->pos);
		if (values[i] == a)
			continue;
		*last = dt_expr_stmt(cc, dt_node_op2(cc, '=', dt_node_copy(cc, values[i]), a));
		last = &(*last)->next;
	}
	for (; i < inl->nnames; i++)
		values[i] = dt_function_slot(cc, id, i, call->pos);
	return first;
}

dt_node *dt_procedure_body(dt_compiler *cc, const dt_ident *id, dt_node *const *values, dt_pos pos)
{
	struct meaning m = {id, values};
	dt_node *body = dt_node_expand_list(cc, id->inl->expr, pos);

	replace_in(cc, &body, &m);
	cc->calls++;
	dt_depth_enter(cc, pos);
	dt_procedures_paste(cc, &body);
	dt_depth_leave(cc);
	cc->calls--;
	return body;
}

dt_node *dt_procedure_paste(dt_compiler *cc, const dt_ident *id, dt_node *call)
{
	dt_node *values[DT_FUNCTION_NAMES], *args, *body, *whole;

	call->ident = (dt_ident *)id;
	dt_check_args_count(cc, call, id->inl->nparams, id->inl->nparams, D_PROTO_LEN);
	args = bind(cc, id, call, values);
	if (cc->defining) /* its own statements were checked where it was defined */
		return args;
	whole = dt_is_apart(cc, id) ? dt_invoke(cc, id, values, call->pos) : NULL;
	if (whole)
		return dt_append(args, whole);
	body = dt_procedure_body(cc, id, values, call->pos);
	if (!id->inl->returns)
		return dt_append(args, body);
	whole = dt_node_new(cc, N_BODY, call->pos);
	whole->l = body;
	return dt_append(args, whole);
}

/* What must be computed before the statement. */
static dt_node *hoist(dt_compiler *cc, dt_node *s)
{
	switch (s->kind) {
	case N_IF:
	case N_SWITCH: return dt_hoist_calls(cc, &s->c);
	case N_LOOP: dt_hoist_from_loop(cc, s); return NULL;
	case N_EXPR_STMT: return dt_hoist_calls(cc, &s->l);
	default: return NULL;
	}
}

void dt_procedures_paste(dt_compiler *cc, dt_node **link)
{
	for (; *link; link = &(*link)->next) {
		dt_node *s = *link, *next = s->next, *before;
		const dt_ident *id;

		if (s->kind == N_BODY || s->kind == N_INVOKE) /* it was done when it was made */
			continue;
		if (s->kind != N_EXPR_STMT) {
			dt_procedures_paste(cc, &s->args);
			dt_procedures_paste(cc, &s->l);
			dt_procedures_paste(cc, &s->r);
		}
		before = hoist(cc, s);
		if (before) {
			*link = dt_append(before, s);
			while (*link != s)
				link = &(*link)->next;
		}
		id = procedure_called(cc, s);
		if (!id)
			continue;
		*link = dt_procedure_paste(cc, id, s->l);
		if (!*link) /* an empty one, without arguments */
			*link = dt_expr_stmt(cc, dt_node_int(cc, s->pos, 0, dt_intrinsics(cc->types)->int_));
		while ((*link)->next)
			link = &(*link)->next;
		(*link)->next = next;
	}
}

/* ---- the definition ---- */

static void check_statements(dt_compiler *cc, dt_node *list)
{
	dt_node *next;

	for (dt_node *s = list; s; s = next) {
		next = s->next;
		s->next = NULL;
		if (s->kind == N_EXPR_STMT) {
			dt_stmt_check(cc, s->l);
			continue;
		}
		check_statements(cc, s->args);
		if (s->c)
			dt_check(cc, s->c);
		check_statements(cc, s->l);
		check_statements(cc, s->r);
	}
}

void dt_procedure_check(dt_compiler *cc, dt_ident *id)
{
	struct dt_invocations *outer = cc->invoked;
	dt_node *values[DT_FUNCTION_NAMES], *body;

	cc->invoked = NULL;
	for (uint32_t i = 0; i < id->inl->nnames; i++)
		values[i] = dt_function_slot(cc, id, i, id->pos);
	cc->expanded = 0;
	cc->defining = true;
	body = dt_procedure_body(cc, id, values, id->pos);
	check_statements(cc, body);
	cc->defining = false;
	dt_invoke_study(cc, id->inl);
	cc->invoked = outer;
}
