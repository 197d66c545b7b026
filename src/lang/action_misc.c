/*
 * action_misc: exit, speculation, actions on the process or the system, options.
 *
 * exit() records its status. For the others the engine evaluates the expression and acts on it;
 * nothing is recorded.
 */
#include "lang/action.h"

/* The value of an action without a payload is only for the engine. */
static void compile_number(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			   const struct dt_action_desc *d, dt_type *type)
{
	dt_node *n;
	dt_action *a;

	n = dt_arg_integer(cc, call, 0, type);
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	a = dt_action_value(cc, b, d->kind, n);
	if (dt_act(d->kind)->payload == DT_PAYLOAD_NONE)
		a->size = a->align = 0;
}

/* exit(status), raise(signal), speculate(id), commit(id), discard(id) */
void dt_act_number(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		   const struct dt_action_desc *d)
{
	compile_number(cc, b, call, d, dt_intrinsics(cc->types)->int_);
}

void dt_act_nanoseconds(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			const struct dt_action_desc *d)
{
	compile_number(cc, b, call, d, dt_intrinsics(cc->types)->uint64);
}

/* stop(), breakpoint(), panic(), ftruncate() */
void dt_act_plain(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		  const struct dt_action_desc *d)
{
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	dt_action_add(cc, b, d->kind);
}

/* setopt("name" [, "value"]): one datum each */
void dt_act_setopt(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		   const struct dt_action_desc *d)
{
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	for (uint32_t i = 0; i < 2 && dt_arg(call, i); i++)
		dt_action_value(cc, b, d->kind, dt_arg(call, i));
}
