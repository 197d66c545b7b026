/*
 * action: statements -> actions.
 *
 * Every action is a row of dif/actions.def: its name, what kind of action the engine sees, what
 * kind of statement the consumer sees, and the function that checks its arguments and adds
 * both. A statement that is neither an action nor an aggregation is an expression, evaluated for
 * its effect.
 *
 * Some actions may not follow others in a clause: data recorded after speculate() goes to the
 * speculation, and aggregations, exit() and destructive actions cannot be undone; commit() writes
 * the speculation where this clause's record would go. The rules are in check_order().
 */
#include "lang/action.h"

const struct dt_action_desc dt_action_table[] = {
#define DT_ACTION(name, act, st, arguments, version, types, prototype, help)                       \
	{name, DT_ACT_##act, DT_ST_##st, DT_VERSION(1, version, 0), types, dt_act_##arguments},
#include "dif/actions.def"
#undef DT_ACTION
    {0}};

/* Compiled by dt_agg_compile(). */
const struct dt_action_desc dt_aggfunc_table[] = {
#define DT_AGGFUNC(name, act, least, most, weight, version, types, prototype, help)                \
	{name, DT_ACT_##act, DT_ST_AGG, DT_VERSION(1, version, 0), types, NULL},
#include "dif/actions.def"
#undef DT_AGGFUNC
    {0}};

/* ---- order rules ---- */
static void check_commit(dt_compiler *cc, dt_clause_builder *b, dt_pos pos)
{
	if (b->has_commit)
		dt_fail(cc, pos, D_COMM_COMM, "commit( ) may not follow commit( ) in a clause");
	if (b->has_record)
		dt_fail(cc, pos, D_COMM_DREC,
			"commit( ) may not follow data-recording actions in a clause");
	b->has_commit = true;
}

static void check_speculate(dt_compiler *cc, dt_clause_builder *b, dt_pos pos)
{
	if (b->has_speculate)
		dt_fail(cc, pos, D_SPEC_SPEC,
			"speculate( ) may not follow speculate( ) in a clause");
	if (b->has_commit)
		dt_fail(cc, pos, D_SPEC_COMM, "speculate( ) may not follow commit( ) in a clause");
	if (b->has_record)
		dt_fail(cc, pos, D_SPEC_DREC,
			"speculate( ) may not follow data-recording actions in a clause");
	b->has_speculate = true;
}

static void check_agg(dt_compiler *cc, dt_clause_builder *b, dt_pos pos)
{
	if (b->has_commit)
		dt_fail(cc, pos, D_AGG_COMM, "aggregations may not follow commit( ) in a clause");
	if (b->has_speculate)
		dt_fail(cc, pos, D_AGG_SPEC,
			"aggregations may not follow speculate( ) in a clause");
	b->has_agg = b->has_record = true;
}

static void check_order(dt_compiler *cc, dt_clause_builder *b, enum dt_stmt_kind stmt,
			enum dt_act kind, const char *name, dt_pos pos)
{
	if (kind == DT_ACT_COMMIT) {
		check_commit(cc, b, pos);
	} else if (kind == DT_ACT_SPECULATE) {
		check_speculate(cc, b, pos);
	} else if (dt_act_is_agg(kind)) {
		check_agg(cc, b, pos);
	} else if (dt_act(kind)->needs & DT_NEEDS_DESTRUCTIVE) {
		if (b->has_speculate)
			dt_fail(cc, pos, D_ACT_SPEC,
				"%s( ) is destructive and may not follow speculate( ) in a clause",
				name);
		b->clause->destructive = true;
	} else if (stmt != DT_ST_EXPR && kind != DT_ACT_DISCARD) {
		if (kind == DT_ACT_EXIT && b->has_speculate)
			dt_fail(cc, pos, D_EXIT_SPEC,
				"exit( ) may not follow speculate( ) in a clause");
		if (b->has_commit)
			dt_fail(cc, pos, D_DREC_COMM,
				"%s( ) records data and may not follow commit( ) in a clause",
				name);
		if (!b->has_speculate)
			b->has_record = true;
	}
}

/* ---- building ---- */
dt_stmt *dt_stmt_add(dt_compiler *cc, dt_clause_builder *b, const dt_node *call,
		     enum dt_stmt_kind stmt, enum dt_act kind)
{
	dt_stmt *s;

	check_order(cc, b, stmt, kind, call->name ? call->name : "", call->pos);
	s = dt_vec_add(&b->stmts, cc->arena);
	s->kind = stmt;
	s->first = b->actions.n;
	s->pos = call->pos;
	return s;
}

dt_action *dt_action_add(dt_compiler *cc, dt_clause_builder *b, enum dt_act kind)
{
	dt_action *a = dt_vec_add(&b->actions, cc->arena);

	a->kind = kind;
	b->stmts.v[b->stmts.n - 1].nactions++;
	return a;
}

dt_action *dt_action_value(dt_compiler *cc, dt_clause_builder *b, enum dt_act kind, dt_node *n)
{
	dt_difo *difo = dt_gen_expr(cc, n, true);
	dt_action *a = dt_action_add(cc, b, kind);

	a->difo = difo;
	a->size = difo->rtype.size;
	a->align = difo->rtype.kind == DT_TYPE_STRING ? 1 : dt_type_align(cc->types, n->type);
	if (a->align == 0)
		a->align = 1;
	return a;
}

/* ---- arguments: checked against the prototype ---- */
dt_node *dt_arg(dt_node *call, uint32_t i)
{
	dt_node *a = call->args;

	while (a && i-- > 0)
		a = a->next;
	return a;
}

const char *dt_arg_name(dt_compiler *cc, const dt_node *call, uint32_t i)
{
	return dt_arena_printf(cc->arena, "%s( ) argument #%u", call->name, i + 1);
}

bool dt_is_number(const dt_type *t)
{
	return dt_type_is_integer(t) || dt_type_is_pointer(t);
}

dt_node *dt_arg_integer(dt_compiler *cc, dt_node *call, uint32_t i, dt_type *to)
{
	return dt_coerce(cc, dt_arg(call, i), to);
}

const struct dt_action_desc *dt_action_of(const dt_node *n)
{
	return n->kind == N_FUNC && n->ident->kind == ID_ACTION ? n->ident->act : NULL;
}

/* ---- one statement ---- */
dt_node *dt_stmt_check(dt_compiler *cc, dt_node *e)
{
	e = dt_constant_choice(cc, e); /* VERBOSE ? printf("...") : 1; */
	return dt_is_agg_assign(e) ? dt_check_agg_assign(cc, e) : dt_check(cc, e);
}

/* The call of a subroutine that changes the process, if there is one in e. */
static const dt_node *destructive_call(const dt_node *e)
{
	const dt_node *found = NULL;

	for (; e && !found; e = e->next) {
		if (e->kind == N_FUNC && e->ident->kind == ID_SUBR &&
		    (e->ident->id == DT_SUBR_COPYOUT || e->ident->id == DT_SUBR_COPYOUTSTR))
			return e;
		found = destructive_call(e->c);
		found = found ? found : destructive_call(e->l);
		found = found ? found : destructive_call(e->r);
		found = found ? found : destructive_call(e->args);
	}
	return found;
}

void dt_stmt_compile(dt_compiler *cc, dt_clause_builder *b, dt_node *e)
{
	const struct dt_action_desc *d = dt_action_of(e);
	const dt_node *call = b->has_speculate ? destructive_call(e) : NULL;
	dt_difo *difo;

	if (call)
		dt_fail(cc, call->pos, D_ACT_SPEC,
			"%s( ) is destructive and may not follow speculate( ) in a clause",
			call->ident->name);
	if (e->kind == N_AGG)
		dt_fail(cc, e->pos, D_AGG_NULL,
			"@%s alone has no effect: assign an aggregating function to it, as in "
			"@%s = count()",
			e->name, e->name);
	if (dt_is_agg_assign(e)) {
		dt_agg_compile(cc, b, e);
		return;
	}
	if (d) {
		d->compile(cc, b, e, d);
		return;
	}
	difo = dt_gen_expr(cc, e, false);
	dt_stmt_add(cc, b, e, DT_ST_EXPR, DT_ACT_DIFEXPR);
	dt_action_add(cc, b, DT_ACT_DIFEXPR)->difo = difo;
}
