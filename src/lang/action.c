/*
 * action: statements -> actions.
 *
 * Every action is a row of the table below: its name, what kind of action the engine sees, what
 * kind of statement the consumer sees, and the function that checks its arguments and adds
 * both. A statement that is neither an action nor an aggregation is an expression, evaluated for
 * its effect.
 *
 * Some actions may not follow others in a clause: what is recorded after speculate() goes to the
 * speculation, and aggregations, exit() and destructive actions cannot be taken back; commit()
 * writes the speculation where this clause's record would go (facts, 5.4). The rules are in
 * check_order().
 */
#include "lang/action.h"

#define V(minor) DT_VERSION(1, minor, 0)

/* clang-format off */
const struct dt_action_desc dt_action_table[] = {
	{ "trace", DT_ACT_DIFEXPR, DT_ST_TRACE, V(0), dt_act_trace, "(value) record a value" },
	{ "print", DT_ACT_DIFEXPR, DT_ST_PRINT, V(9), dt_act_print, "(value) record a value and print it by its type" },
	{ "printm", DT_ACT_PRINTM, DT_ST_PRINTM, V(0), dt_act_printm, "(memref) record memory given by memref()" },
	{ "tracemem", DT_ACT_TRACEMEM, DT_ST_TRACEMEM, V(0), dt_act_tracemem, "(address, most, [bytes]) record memory, shown as a hex dump" },
	{ "printf", DT_ACT_PRINTF, DT_ST_PRINTF, V(0), dt_act_printf, "(format, ...) print values by a format" },
	{ "printa", DT_ACT_PRINTA, DT_ST_PRINTA, V(0), dt_act_printa, "([format], @aggregation, ...) print aggregations" },
	{ "stack", DT_ACT_STACK, DT_ST_STACK, V(0), dt_act_stack, "([frames]) record the kernel stack" },
	{ "ustack", DT_ACT_USTACK, DT_ST_STACK, V(0), dt_act_stack, "([frames], [strsize]) record the user stack" },
	{ "jstack", DT_ACT_JSTACK, DT_ST_STACK, V(0), dt_act_stack, "([frames], [strsize]) record the user stack with room for names from helpers" },
	{ "sym", DT_ACT_SYM, DT_ST_SYM, V(2), dt_act_sym, "(address) record a kernel address, printed as its symbol" },
	{ "func", DT_ACT_SYM, DT_ST_SYM, V(2), dt_act_sym, "(address) the same as sym" },
	{ "mod", DT_ACT_MOD, DT_ST_SYM, V(2), dt_act_sym, "(address) record a kernel address, printed as its module" },
	{ "usym", DT_ACT_USYM, DT_ST_SYM, V(2), dt_act_sym, "(address) record a user address, printed as its symbol" },
	{ "ufunc", DT_ACT_USYM, DT_ST_SYM, V(2), dt_act_sym, "(address) the same as usym" },
	{ "umod", DT_ACT_UMOD, DT_ST_SYM, V(2), dt_act_sym, "(address) record a user address, printed as its object" },
	{ "uaddr", DT_ACT_UADDR, DT_ST_SYM, V(2), dt_act_sym, "(address) record a user address, printed as symbol and offset" },
	{ "stop", DT_ACT_STOP, DT_ST_KERNEL, V(0), dt_act_plain, "() stop the process (destructive)" },
	{ "raise", DT_ACT_RAISE, DT_ST_KERNEL, V(0), dt_act_number, "(signal) send a signal to the process (destructive)" },
	{ "system", DT_ACT_SYSTEM, DT_ST_SYSTEM, V(0), dt_act_printf, "(format, ...) run a shell command (destructive)" },
	{ "breakpoint", DT_ACT_BREAKPOINT, DT_ST_KERNEL, V(0), dt_act_plain, "() enter the kernel debugger (destructive)" },
	{ "panic", DT_ACT_PANIC, DT_ST_KERNEL, V(0), dt_act_plain, "() crash the system (destructive)" },
	{ "chill", DT_ACT_CHILL, DT_ST_KERNEL, V(0), dt_act_number, "(nanoseconds) spin for that many nanoseconds (destructive)" },
	{ "freopen", DT_ACT_FREOPEN, DT_ST_FREOPEN, V(0), dt_act_freopen, "(format, ...) send further output to a file (destructive)" },
	{ "exit", DT_ACT_EXIT, DT_ST_EXIT, V(0), dt_act_exit, "(status) end tracing with a status" },
	{ "speculate", DT_ACT_SPECULATE, DT_ST_SPECULATE, V(0), dt_act_number, "(id) record into a speculation from here on" },
	{ "commit", DT_ACT_COMMIT, DT_ST_COMMIT, V(0), dt_act_number, "(id) keep what a speculation recorded" },
	{ "discard", DT_ACT_DISCARD, DT_ST_DISCARD, V(0), dt_act_number, "(id) throw away what a speculation recorded" },
	{ "setopt", DT_ACT_LIBACT, DT_ST_SETOPT, V(2), dt_act_setopt, "(name, [value]) set a dynamic option" },
	{ "ftruncate", DT_ACT_LIBACT, DT_ST_FTRUNCATE, V(0), dt_act_ftruncate, "() truncate the output file" },
	{ "clear", DT_ACT_LIBACT, DT_ST_CLEAR, V(0), dt_act_clear, "(@aggregation) zero the values of an aggregation" },
	{ "trunc", DT_ACT_LIBACT, DT_ST_TRUNC, V(0), dt_act_trunc, "(@aggregation, [keys]) remove keys of an aggregation" },
	{ "normalize", DT_ACT_LIBACT, DT_ST_NORMALIZE, V(0), dt_act_normalize, "(@aggregation, factor) divide the values of an aggregation when printed" },
	{ "denormalize", DT_ACT_LIBACT, DT_ST_DENORMALIZE, V(0), dt_act_denormalize, "(@aggregation) undo normalize" },
	{ 0 }
};

/* Compiled by dt_agg_compile(). */
const struct dt_action_desc dt_aggfunc_table[] = {
	{ "count", DT_ACT_COUNT, DT_ST_AGG, V(0), NULL, "() how often" },
	{ "sum", DT_ACT_SUM, DT_ST_AGG, V(0), NULL, "(value) the total" },
	{ "avg", DT_ACT_AVG, DT_ST_AGG, V(0), NULL, "(value) the average" },
	{ "min", DT_ACT_MIN, DT_ST_AGG, V(0), NULL, "(value) the smallest" },
	{ "max", DT_ACT_MAX, DT_ST_AGG, V(0), NULL, "(value) the largest" },
	{ "stddev", DT_ACT_STDDEV, DT_ST_AGG, V(6), NULL, "(value) the standard deviation" },
	{ "quantize", DT_ACT_QUANTIZE, DT_ST_AGG, V(0), NULL, "(value, [weight]) distribution over powers of two" },
	{ "lquantize", DT_ACT_LQUANTIZE, DT_ST_AGG, V(0), NULL, "(value, from, to, [step], [weight]) distribution over equal steps" },
	{ "llquantize", DT_ACT_LLQUANTIZE, DT_ST_AGG, V(7), NULL, "(value, factor, low, high, steps, [weight]) distribution over equal steps in each magnitude" },
	{ 0 }
};
/* clang-format on */

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
	} else if (DT_ACT_IS_AGG(kind)) {
		check_agg(cc, b, pos);
	} else if (DT_ACT_IS_DESTRUCTIVE(kind)) {
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
