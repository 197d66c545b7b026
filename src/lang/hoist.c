/*
 * hoist: calls of functions with a value and a loop.
 *
 *	inline int64_t sum(int64_t n) { int64_t s = 0; while (n) s += n--; return s; }
 *	printf("%d\n", sum(3) + sum(4));
 *
 * An expression is one DIFO, and DIF has no loops. So the body becomes statements in front of the
 * one with the call, as that of a void function does (procedure.c), and the call is replaced by a
 * variable with the result:
 *
 *	{ n = 3; s = 0; while (n) s += n--; result = s; } value1 = result;
 *	{ n = 4; s = 0; while (n) s += n--; result = s; } value2 = result;
 *	printf("%d\n", value1 + value2);
 *
 * The condition of a loop is computed once before the first round and at the end of each. A
 * predicate becomes an if around the clause. Where an operand is not always evaluated, or only after
 * another one (&& || ?: and the comma), such a call is refused (dt_expand_function); so it is in ??.
 */
#include "lang/function.h"

struct hoist {
	dt_compiler *cc;
	dt_node *before; /* statements */
	uint32_t values;
};

static void find_calls(struct hoist *h, dt_node **link);

static void in_list(struct hoist *h, dt_node **link)
{
	for (; *link; link = &(*link)->next)
		find_calls(h, link);
}

/* this->value, of the type of the function */
static dt_node *value_of(struct hoist *h, const dt_ident *id, dt_pos pos)
{
	const char *name = dt_arena_printf(h->cc->arena, "%%%s:value%u:%u", id->name, h->values++, h->cc->calls);

	return dt_hidden_variable(h->cc, name, id->type, pos);
}

static void replace_call(struct hoist *h, dt_node **link, const dt_ident *id)
{
	dt_compiler *cc = h->cc;
	dt_node *call = *link, *value = value_of(h, id, call->pos), *assign;

	h->before = dt_append(h->before, dt_procedure_paste(cc, id, call));
	assign = dt_node_op2(cc, '=', dt_node_copy(cc, value),
			     dt_function_slot(cc, id, id->inl->result, call->pos));
	h->before = dt_append(h->before, dt_expr_stmt(cc, assign));
	value->next = call->next;
	*link = value;
}

/* Does it not always evaluate its right operand, or only after the left one? */
static bool is_conditional(const dt_node *n)
{
	return n->kind == N_OP3 || (n->kind == N_OP2 && (n->op == T_ANDAND || n->op == T_OROR ||
							 n->op == T_OTHERWISE || n->op == ','));
}

void dt_refuse_loops(dt_compiler *cc, const dt_ident *id, dt_pos pos)
{
	dt_fail(cc, pos, D_SYNTAX,
		"%s( ) has a loop or a switch: call it in a statement or a predicate, and not in ?? or after && || ?: or a comma",
		id->name);
}

static const dt_ident *with_loops(dt_compiler *cc, const dt_node *n)
{
	const dt_ident *id = n->kind == N_CALL ? dt_ident_find(cc, n->name, 0) : NULL;

	return id && id->kind == ID_FUNC && id->inl->loops ? id : NULL;
}

/* The operands of ??, which takes any error in the left one as a reason for the right one. */
static void refuse_in(dt_compiler *cc, const dt_node *n)
{
	for (; n; n = n->next) {
		if (with_loops(cc, n))
			dt_refuse_loops(cc, with_loops(cc, n), n->pos);
		dt_depth_enter(cc, n->pos);
		refuse_in(cc, n->c);
		refuse_in(cc, n->l);
		refuse_in(cc, n->r);
		refuse_in(cc, n->args);
		dt_depth_leave(cc);
	}
}

static void find_calls(struct hoist *h, dt_node **link)
{
	dt_node *n = *link;
	const dt_ident *id = with_loops(h->cc, n);

	dt_depth_enter(h->cc, n->pos);
	if (n->kind == N_OP2 && n->op == T_OTHERWISE) {
		refuse_in(h->cc, n->l);
		refuse_in(h->cc, n->r);
	}
	if (n->c)
		find_calls(h, &n->c);
	if (n->l && n->kind != N_OP3)
		find_calls(h, &n->l);
	if (n->r && !is_conditional(n))
		find_calls(h, &n->r);
	in_list(h, &n->args);
	dt_depth_leave(h->cc);
	if (id)
		replace_call(h, link, id);
}

dt_node *dt_hoist_calls(dt_compiler *cc, dt_node **expr)
{
	struct hoist h = {.cc = cc};

	if (*expr)
		find_calls(&h, expr);
	return h.before;
}

void dt_hoist_from_loop(dt_compiler *cc, dt_node *loop)
{
	dt_node *before = dt_hoist_calls(cc, &loop->c);

	if (loop->op != T_DO)
		loop->args = dt_append(loop->args, dt_node_expand_list(cc, before, loop->pos));
	loop->r = dt_append(loop->r, before);
}

void dt_hoist_from_predicate(dt_compiler *cc, dt_node *clause)
{
	dt_node *before, *s;

	if (!clause->c || !(clause->flags & NF_HAS_BODY) || !(before = dt_hoist_calls(cc, &clause->c)))
		return;
	s = dt_node_new(cc, N_IF, clause->c->pos);
	s->c = clause->c;
	s->l = clause->l;
	clause->c = NULL;
	clause->l = dt_append(before, s);
}
