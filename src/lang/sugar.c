/*
 * sugar: if and else for other DTraces.
 *
 * Their clauses have no control flow, but predicates. So with option control=clauses a clause with
 * an `if` becomes several clauses on the same probes, which run one after the other, and a DOF file
 * of the program is one that they can load:
 *
 *     p /x/ { A; if (c) { B } else { C } D }
 *
 *   becomes
 *
 *     p { self->%error = 0; }
 *     p /!self->%error/ { this->%condition_1 = !!(x); }
 *     p /!self->%error && this->%condition_1/ { A }
 *     p /!self->%error/ { this->%condition_2 = this->%condition_1 && (c); }
 *     p /!self->%error && this->%condition_2/ { B }
 *     p /!self->%error/ { this->%condition_3 = this->%condition_1 && !this->%condition_2; }
 *     p /!self->%error && this->%condition_3/ { C }
 *     p /!self->%error && this->%condition_1/ { D }
 *
 *   and once per program
 *
 *     dtrace:::ERROR { self->%error = 1; }
 *
 * so that a fault in one part suppresses the rest, as it would in a single clause. The names hold a
 * '%' and cannot clash with the program's own.
 */
#include "lang/compiler.h"

struct sugar {
	dt_compiler *cc;
	dt_node *clause; /* the clause being split */
	dt_node *first, **link;
};

static dt_node *hidden(dt_compiler *cc, int scope, const char *name, dt_pos pos)
{
	dt_node *n = dt_node_new(cc, N_IDENT, pos);

	n->scope = scope;
	n->name = name;
	return n;
}

static dt_node *error_flag(dt_compiler *cc, dt_pos pos)
{
	return hidden(cc, T_SELF, "%error", pos);
}

static dt_node *condition(dt_compiler *cc, uint32_t number, dt_pos pos)
{
	return hidden(cc, T_THIS, dt_arena_printf(cc->arena, "%%condition_%u", number), pos);
}

static dt_node *negate(dt_compiler *cc, dt_node *n)
{
	return dt_node_op1(cc, '!', n);
}

static dt_node *assign(dt_compiler *cc, dt_node *var, dt_node *value)
{
	dt_node *s = dt_node_new(cc, N_EXPR_STMT, var->pos);

	s->l = dt_node_op2(cc, '=', var, value);
	return s;
}

static dt_node *small_int(dt_compiler *cc, dt_pos pos, uint64_t v)
{
	return dt_node_int(cc, pos, v, dt_intrinsics(cc->types)->int_);
}

/* One of the clauses to be made: on the same probes. */
static void emit(struct sugar *s, dt_pos pos, dt_node *pred, dt_node *stmts)
{
	dt_node *c = dt_node_new(s->cc, N_CLAUSE, pos);

	c->args = dt_node_copy_list(s->cc, s->clause->args);
	c->c = pred;
	c->l = stmts;
	c->flags |= NF_HAS_BODY;
	*s->link = c;
	s->link = &c->next;
}

/* "no error", and the condition if there is one (0: none). */
static dt_node *guard(struct sugar *s, dt_pos pos, uint32_t cond)
{
	dt_node *ok = negate(s->cc, error_flag(s->cc, pos));

	if (cond == 0)
		return ok;
	return dt_node_op2(s->cc, T_ANDAND, ok, condition(s->cc, cond, pos));
}

/* A new condition: `expr`, where `outer` holds. */
static uint32_t emit_condition(struct sugar *s, uint32_t outer, dt_node *expr)
{
	dt_compiler *cc = s->cc;
	dt_pos pos = expr->pos;
	uint32_t number = ++cc->shared->nconditions;
	dt_node *value = outer ? dt_node_op2(cc, T_ANDAND, condition(cc, outer, pos), expr)
			       : negate(cc, negate(cc, expr));

	emit(s, pos, guard(s, pos, 0), assign(cc, condition(cc, number, pos), value));
	return number;
}

/* Statements that run where `cond` holds: runs of plain ones become a clause each. */
static void emit_block(struct sugar *s, dt_node *list, uint32_t cond)
{
	dt_node *run, **end, *next;
	uint32_t then, otherwise;

	while (list) {
		dt_depth_enter(s->cc, list->pos);
		if (list->kind == N_IF) {
			next = list->next;
			then = emit_condition(s, cond, list->c);
			emit_block(s, list->l, then);
			if (list->r) {
				otherwise = emit_condition(
				    s, cond, negate(s->cc, condition(s->cc, then, list->pos)));
				emit_block(s, list->r, otherwise);
			}
		} else {
			run = list;
			for (end = &run; *end && (*end)->kind != N_IF;)
				end = &(*end)->next;
			next = *end;
			*end = NULL;
			emit(s, run->pos, guard(s, run->pos, cond), run);
		}
		dt_depth_leave(s->cc);
		list = next;
	}
}

static bool has_if(const dt_node *list)
{
	for (; list; list = list->next)
		if (list->kind == N_IF)
			return true;
	return false;
}

/* Loops and switch have no other form. */
static void refuse_others(dt_compiler *cc, const dt_node *list)
{
	for (; list; list = list->next) {
		if (list->kind == N_IF) {
			refuse_others(cc, list->l);
			refuse_others(cc, list->r);
		} else if (list->kind != N_EXPR_STMT) {
			dt_fail(cc, list->pos, D_SYNTAX,
				"loops and switch are not available with option control=clauses");
		}
	}
}

static dt_node *take_apart(dt_compiler *cc, dt_node *clause)
{
	struct sugar s = {.cc = cc, .clause = clause};
	uint32_t cond = 0;

	s.link = &s.first;
	cc->shared->nconditions = 0;
	cc->need_error_clause = true;
	emit(&s, clause->pos, NULL,
	     assign(cc, error_flag(cc, clause->pos), small_int(cc, clause->pos, 0)));
	if (clause->c)
		cond = emit_condition(&s, 0, clause->c);
	emit_block(&s, clause->l, cond);
	return s.first;
}

dt_node *dt_desugar(dt_compiler *cc, dt_node *clause)
{
	bool apart = dt_opt(cc->opts, DT_O_CONTROL) == DT_CONTROL_CLAUSES;
	dt_node *list;

	if (apart)
		refuse_others(cc, clause->l);
	list = apart && has_if(clause->l) ? take_apart(cc, clause) : clause;
	for (dt_node *c = list; c && cc->dump_sugar; c = c->next)
		dt_node_print(cc, c, cc->dump_sugar);
	return list;
}

dt_node *dt_sugar_error_clause(dt_compiler *cc)
{
	static const dt_probedesc error = {.prov = "dtrace", .mod = "", .func = "", .name = "ERROR"};
	dt_pos pos = {0};
	dt_node *c = dt_node_new(cc, N_CLAUSE, pos), *d = dt_node_new(cc, N_PDESC, pos);

	d->desc = &error;
	c->args = d;
	c->l = assign(cc, error_flag(cc, pos), small_int(cc, pos, 1));
	c->flags |= NF_HAS_BODY;
	return c;
}
