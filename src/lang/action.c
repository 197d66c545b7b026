/*
 * action: statements -> actions.
 *
 * Every action is a row of dif/actions.def: its name, what kind of action the engine sees, what
 * kind of statement the consumer sees, and the function that checks its arguments and adds
 * both. A statement that is neither an action nor an aggregation is an expression, evaluated for
 * its effect.
 *
 * Some actions may not follow others in a clause: what is recorded after speculate() goes to the
 * speculation, and aggregations, exit() and destructive actions cannot be taken back; commit()
 * writes the speculation where this clause's record would go. The rules are in
 * check_order().
 */
#include "lang/action.h"

const struct dt_action_desc dt_action_table[] = {
#define DT_ACTION(name, act, st, arguments, version, prototype, help)                              \
	{name, DT_ACT_##act, DT_ST_##st, DT_VERSION(1, version, 0), dt_act_##arguments},
#include "dif/actions.def"
#undef DT_ACTION
    {0}};

/* Compiled by dt_agg_compile(). */
const struct dt_action_desc dt_aggfunc_table[] = {
#define DT_AGGFUNC(name, act, least, most, weight, version, prototype, help)                       \
	{name, DT_ACT_##act, DT_ST_AGG, DT_VERSION(1, version, 0), NULL},
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

/* ---- arguments ---- */
dt_node *dt_arg(dt_node *call, uint32_t i)
{
	dt_node *a = call->args;

	while (a && i-- > 0)
		a = a->next;
	return a;
}

dt_node *dt_arg_value(dt_compiler *cc, dt_node *call, uint32_t i)
{
	return dt_check_value(cc, dt_arg(call, i));
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
	dt_node *n = dt_arg_value(cc, call, i);

	if (!dt_type_is_integer(n->type))
		dt_fail(cc, n->pos, D_PROTO_ARG,
			"%s is incompatible with prototype: it must be an integer, not %s",
			dt_arg_name(cc, call, i), dt_tname(cc, n->type));
	return dt_coerce(cc, n, to);
}

dt_node *dt_arg_address(dt_compiler *cc, dt_node *call, uint32_t i)
{
	dt_node *n = dt_arg_value(cc, call, i);

	if (!dt_is_number(n->type) && !dt_type_is_function(n->type) && !dt_type_is_array(n->type))
		dt_fail(cc, n->pos, D_PROTO_ARG,
			"%s is incompatible with prototype: it must be an address, not %s",
			dt_arg_name(cc, call, i), dt_tname(cc, n->type));
	return dt_coerce(cc, n, dt_intrinsics(cc->types)->uint64);
}

const struct dt_action_desc *dt_action_of(dt_compiler *cc, const dt_node *n)
{
	dt_ident *id;

	if (n->kind == N_FUNC)
		return n->ident->kind == ID_ACTION ? n->ident->act : NULL;
	if (n->kind != N_CALL)
		return NULL;
	id = dt_ident_find(cc, n->name, 0);
	return id && id->kind == ID_ACTION ? id->act : NULL;
}

/* ---- one statement ---- */
static const dt_node *base_of_index(const dt_node *n)
{
	while (n->kind == N_OP2 && n->op == '[')
		n = n->l;
	return n;
}

/* Aggregations where they cannot stand; what is left is an expression or an assignment to one. */
static void check_agg_place(dt_compiler *cc, const dt_node *e)
{
	const dt_node *target = e->kind == N_OP2 && e->op == '=' ? e->l : e;

	if (base_of_index(target)->kind != N_AGG)
		return;
	if (target->kind != N_AGG)
		dt_fail(cc, target->pos, D_AGG_MDIM,
			"an aggregation has one list of keys: write @%s[a, b], not @%s[a][b]",
			base_of_index(target)->name, base_of_index(target)->name);
	if (target == e)
		dt_fail(cc, e->pos, D_AGG_NULL,
			"@%s alone has no effect: assign an aggregating function to it, as in "
			"@%s = count()",
			e->name, e->name);
}

void dt_stmt_compile(dt_compiler *cc, dt_clause_builder *b, dt_node *stmt)
{
	dt_node *e = stmt->l;
	const struct dt_action_desc *d;
	dt_difo *difo;

	if (!e)
		return;
	e = dt_constant_choice(cc, e); /* VERBOSE ? printf("...") : 1; */
	check_agg_place(cc, e);
	if (e->kind == N_OP2 && e->op == '=' && e->l->kind == N_AGG) {
		e->r = dt_constant_choice(cc, e->r);
		dt_agg_compile(cc, b, e);
		return;
	}
	d = dt_action_of(cc, e);
	if (d) {
		dt_ident *id = dt_ident_find(cc, e->name, 0);
		dt_use_attr(cc, e->pos, id->attr, id->name);
		d->compile(cc, b, e, d);
		return;
	}
	e = dt_check(cc, e);
	if (e->kind == N_FUNC && e->ident->kind == ID_AGGFUNC)
		dt_check_value(cc, e); /* raises */
	difo = dt_gen_expr(cc, e, false);
	dt_stmt_add(cc, b, e, DT_ST_EXPR, DT_ACT_DIFEXPR);
	dt_action_add(cc, b, DT_ACT_DIFEXPR)->difo = difo;
}
