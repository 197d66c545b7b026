/*
 * function: shared by function.c and procedure.c only.
 */
#ifndef DT_FUNCTION_H
#define DT_FUNCTION_H

#include "lang/check.h"
#include "lang/decl.h"

#define DT_FUNCTION_STATEMENTS 1000
#define DT_SHARED_NODES	       24 /* smaller functions are repeated at each call */
#define DT_FUNCTION_NAMES      64 /* parameters and local variables */

struct dt_function { /* being defined */
	const char *name;
	dt_type *type; /* void: it has no value */
	dt_param names[DT_FUNCTION_NAMES]; /* parameters, then local variables */
	uint32_t nparams, nnames, nstatements;
};

/* How a list of statements ends: by a return? */
enum dt_ends { ENDS_NEVER, ENDS_SOMETIMES, ENDS_ALWAYS };
enum dt_ends dt_how_ends(const dt_node *list);
dt_node *dt_append(dt_node *a, dt_node *b); /* the statements of a, then those of b */
dt_node *dt_expr_stmt(dt_compiler *cc, dt_node *e);
/* The variable of parameter or local variable i in a call at depth cc->calls: this->name. */
dt_node *dt_function_slot(dt_compiler *cc, const dt_ident *id, uint32_t i, dt_pos pos);

dt_node *dt_hidden_variable(dt_compiler *cc, const char *name, dt_type *type, dt_pos pos); /* this->name */

/* ---- hoist.c ---- */
/* Calls of functions with loops become variables; the statements that set them. */
dt_node *dt_hoist_calls(dt_compiler *cc, dt_node **expr);
_Noreturn void dt_refuse_loops(dt_compiler *cc, const dt_ident *id, dt_pos pos);
void dt_hoist_from_loop(dt_compiler *cc, dt_node *loop); /* from its condition */

/* ---- foresee.c ---- */
bool dt_foresee(dt_compiler *cc); /* calls dt_invoke_expect() for each call in the text; false: it has been done */

/* ---- invoke.c ---- */
void dt_invoke_expect(dt_compiler *cc, const dt_ident *id); /* one call; NULL or not a function: none */
void dt_invoke_study(dt_compiler *cc, struct dt_inline *inl); /* of a function that is defined */
bool dt_is_apart(const dt_compiler *cc, const dt_ident *id); /* the clause at hand has it once */
/* Its call, with these values of its names; NULL: there are too many. */
dt_node *dt_invoke(dt_compiler *cc, const dt_ident *id, dt_node *const *values, dt_pos pos);

/* ---- procedure.c ---- */
/* A copy of its statements with these values of its names. */
dt_node *dt_procedure_body(dt_compiler *cc, const dt_ident *id, dt_node *const *values, dt_pos pos);
dt_node *dt_procedure_paste(dt_compiler *cc, const dt_ident *id, dt_node *call); /* its statements */
bool dt_has_return(const dt_node *list);
/* A body without a value: what remains when its returns are gone. */
dt_node *dt_without_returns(dt_compiler *cc, dt_node *list);
void dt_procedure_check(dt_compiler *cc, dt_ident *id); /* where it is defined */

#endif
