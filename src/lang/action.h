/*
 * action: shared by the files that compile statements (action*.c) and format_check.c only.
 *
 *   action.c         one statement -> its row; order rules
 *   action_data.c    trace print printm tracemem stack ustack jstack sym mod usym umod uaddr
 *   action_printf.c  printf system freopen printa
 *   action_agg.c     @a[k] = f(e); clear trunc normalize denormalize
 *   action_quant.c   the parameters of lquantize and llquantize
 *   action_misc.c    exit speculate commit discard raise stop chill breakpoint panic setopt
 * ftruncate
 */
#ifndef DT_ACTION_H
#define DT_ACTION_H

#include "lang/check.h"
#include "lang/compiler.h"

typedef void dt_action_fn(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
			  const struct dt_action_desc *d);

/* One for each rule of arguments in actions.def. */
#define DT_ACTION(name, act, st, arguments, ...) dt_action_fn dt_act_##arguments;
#include "dif/actions.def"
#undef DT_ACTION

/* ---- action.c ---- */
/* A new statement; its actions follow until the next one. Raises the order rules for `kind`. */
dt_stmt *dt_stmt_add(dt_compiler *cc, dt_clause_builder *b, const dt_node *call,
		     enum dt_stmt_kind stmt, enum dt_act kind);
/* Add an action to the statement added last. */
dt_action *dt_action_add(dt_compiler *cc, dt_clause_builder *b, enum dt_act kind);
/* ... with the value of n as its datum; the alignment follows from the type. */
dt_action *dt_action_value(dt_compiler *cc, dt_clause_builder *b, enum dt_act kind, dt_node *n);
/* Argument i, or NULL. */
dt_node *dt_arg(dt_node *call, uint32_t i);
/* Argument i, a number or an address, converted to `to`. */
dt_node *dt_arg_integer(dt_compiler *cc, dt_node *call, uint32_t i, dt_type *to);
/* "trace( ) argument #1" */
const char *dt_arg_name(dt_compiler *cc, const dt_node *call, uint32_t i);
/* Is it a call of an action? Its row, or NULL. */
const struct dt_action_desc *dt_action_of(const dt_node *n);
bool dt_is_number(const dt_type *t); /* integer, enum or pointer */

/* ---- action_data.c ---- */
/* An action of one of the stack or symbol kinds, as a statement or as a key of an aggregation. */
void dt_action_fill_key(dt_compiler *cc, dt_node *call, const struct dt_action_desc *d,
			dt_action *out);

/* ---- action_agg.c ---- */
void dt_agg_compile(dt_compiler *cc, dt_clause_builder *b, dt_node *assign);
/* The aggregation that argument i names; tags for "not one" and "never defined". */
dt_agg *dt_arg_agg(dt_compiler *cc, dt_node *call, uint32_t i, enum dt_tag not_agg,
		   enum dt_tag undefined);
dt_type *dt_key_type(dt_compiler *cc, const dt_action *key); /* stack types for stack keys ... */

/* ---- action_quant.c: checks the constant arguments, and that they match the first use ---- */
uint64_t dt_lquantize_args(dt_compiler *cc, dt_node *call, const dt_agg *agg);
uint64_t dt_llquantize_args(dt_compiler *cc, dt_node *call, const dt_agg *agg);

/* ---- format_check.c ---- */
struct dt_format_args {
	const char *func; /* for messages */
	dt_pos pos;
	dt_type **types; /* of the arguments, or of the keys for printa() */
	uint32_t n;
	dt_agg **aggs; /* printa() only */
	uint32_t naggs;
};
/* Give every conversion its argument; raises D_PRINTF_*. */
void dt_format_check(dt_compiler *cc, dt_format *f, const struct dt_format_args *a);

#endif
