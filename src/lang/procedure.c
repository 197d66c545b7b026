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

static void refuse_returns(dt_compiler *cc, const dt_node *list)
{
	for (; list; list = list->next) {
		if (list->kind == N_RETURN)
			dt_fail(cc, list->pos, D_SYNTAX, "return cannot be inside of a loop or switch");
		if (list->kind == N_EXPR_STMT)
			continue;
		refuse_returns(cc, list->l);
	}
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
		else if (s->kind != N_EXPR_STMT && s->kind != N_IF)
			refuse_returns(cc, s->l);
	}
	return first;
}

/* ---- what names mean in a call ---- */

struct meaning {
	const dt_ident *id;
	dt_node *values[DT_FUNCTION_NAMES]; /* by number */
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

/* Assignments of the arguments; *m: what the names mean. */
static dt_node *bind(dt_compiler *cc, const dt_ident *id, const dt_node *call, struct meaning *m)
{
	const struct dt_inline *inl = id->inl;
	dt_node *first = NULL, **last = &first, *next;
	uint32_t i = 0;

	for (dt_node *a = call->args; a; a = next, i++) {
		dt_type *t = inl->params[i].type;
		bool constant = a->kind == N_STRING ? dt_type_is_string(t) : a->kind == N_INT && dt_type_is_integer(t);

		next = a->next;
		a->next = NULL;
		m->values[i] = constant && !(inl->assigned >> i & 1) ? a : dt_function_slot(cc, id, i, a->pos);
		if (m->values[i] == a)
			continue;
		*last = dt_expr_stmt(cc, dt_node_op2(cc, '=', dt_node_copy(cc, m->values[i]), a));
		last = &(*last)->next;
	}
	for (; i < inl->nnames; i++)
		m->values[i] = dt_function_slot(cc, id, i, call->pos);
	return first;
}

static dt_node *paste(dt_compiler *cc, const dt_ident *id, dt_node *call)
{
	struct meaning m = {.id = id};
	dt_node *args, *body;

	call->ident = (dt_ident *)id;
	dt_check_args_count(cc, call, id->inl->nparams, id->inl->nparams, D_PROTO_LEN);
	args = bind(cc, id, call, &m);
	body = dt_node_expand_list(cc, id->inl->expr, call->pos);
	replace_in(cc, &body, &m);
	cc->calls++;
	dt_depth_enter(cc, call->pos);
	dt_procedures_paste(cc, &body);
	dt_depth_leave(cc);
	cc->calls--;
	return dt_append(args, body);
}

void dt_procedures_paste(dt_compiler *cc, dt_node **link)
{
	for (; *link; link = &(*link)->next) {
		dt_node *s = *link, *next = s->next;
		const dt_ident *id = procedure_called(cc, s);

		if (!id && s->kind != N_EXPR_STMT) {
			dt_procedures_paste(cc, &s->l);
			if (s->kind == N_IF)
				dt_procedures_paste(cc, &s->r);
			continue;
		}
		if (!id)
			continue;
		*link = paste(cc, id, s->l);
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
	struct meaning m = {.id = id};
	dt_node *body;

	for (uint32_t i = 0; i < id->inl->nnames; i++)
		m.values[i] = dt_function_slot(cc, id, i, id->pos);
	cc->expanded = 0;
	body = dt_node_copy_list(cc, id->inl->expr);
	replace_in(cc, &body, &m);
	cc->calls++;
	dt_procedures_paste(cc, &body);
	cc->calls--;
	cc->defining = true;
	check_statements(cc, body);
	cc->defining = false;
	cc->shared->nprocedures++;
}
