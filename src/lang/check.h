/*
 * check: shared by the files of the checker (check*.c, fold.c) only.
 */
#ifndef DT_CHECK_H
#define DT_CHECK_H

#include "lang/compiler.h"

/* ---- check_name.c ---- */
dt_node *dt_check_ident(dt_compiler *cc, dt_node *n);
dt_node *dt_check_sym(dt_compiler *cc, dt_node *n);
/* Would assigning to n create a variable? Then its keys are checked here. */
bool dt_target_is_new(dt_compiler *cc, dt_node *n);
/* An assignment target: an unknown variable is created with the type of `value` (NULL: int64_t). */
dt_node *dt_check_target(dt_compiler *cc, dt_node *n, const dt_node *value);
dt_type *dt_type_from_text(dt_compiler *cc, const char *text, size_t len);
void dt_use_attr(dt_compiler *cc, dt_pos pos, dt_attr a, const char *what);

/* ---- check_call.c ---- */
dt_node *dt_check_call(dt_compiler *cc, dt_node *n);

/* ---- check_agg.c ---- */
dt_node *dt_check_agg(dt_compiler *cc, dt_node *n);
bool dt_is_agg_assign(const dt_node *n);
dt_node *dt_check_agg_assign(dt_compiler *cc, dt_node *n);

/* ---- check.c ---- */
/* What n is, for messages: its type, or that it has none. */
const char *dt_what(dt_compiler *cc, const dt_node *n);

/* ---- check_op.c ---- */
dt_node *dt_check_op1(dt_compiler *cc, dt_node *n);
dt_node *dt_check_op2(dt_compiler *cc, dt_node *n);
dt_node *dt_check_op3(dt_compiler *cc, dt_node *n);
dt_type *dt_arith_type(dt_compiler *cc, const dt_node *l, const dt_node *r); /* of their sum, and so on */
/* c ? l : r with a constant c is l or r and nothing else: the other is not checked, and the chosen
 * one may be an action. Scripts use this for optional output: inline int VERBOSE = $1; */
dt_node *dt_constant_choice(dt_compiler *cc, dt_node *n);
dt_node *dt_check_deref(dt_compiler *cc, dt_node *n); /* '*' with n->l checked */
dt_node *dt_check_index(dt_compiler *cc, dt_node *n); /* '[' with l and r checked */

/* ---- check_else.c ---- */
dt_node *dt_check_otherwise(dt_compiler *cc, dt_node *n);

/* ---- check_assign.c ---- */
dt_node *dt_check_assign(dt_compiler *cc, dt_node *n);
dt_node *dt_check_incdec(dt_compiler *cc, dt_node *n);

/* ---- check_member.c ---- */
dt_node *dt_check_member(dt_compiler *cc, dt_node *n);
dt_node *dt_check_offsetof(dt_compiler *cc, dt_node *n);
void dt_place_member(dt_compiler *cc, dt_node *n, dt_type *sou); /* n->name, which sou has */

/* ---- check_xlate.c: inlines and translators ---- */
dt_node *dt_expand_inline(dt_compiler *cc, dt_ident *id, dt_node *use);
/* The definition of an inline or function, with what its names mean, as a value of its type. */
dt_node *dt_expand_body(dt_compiler *cc, dt_ident *id, struct dt_binding *names, const dt_node *use);
dt_node *dt_expand_member(dt_compiler *cc, dt_node *xlate, const char *member, const dt_node *use);
dt_node *dt_check_xlate(dt_compiler *cc, dt_node *n);
dt_node *dt_xlate_deref(dt_node *n); /* *p of a translated pointer; NULL: it is not one */

/* ---- function.c, check_sprintf.c ---- */
dt_node *dt_expand_function(dt_compiler *cc, dt_ident *id, dt_node *call);
dt_node *dt_check_sprintf(dt_compiler *cc, dt_node *n);

/* ---- check_convert.c ---- */
dt_node *dt_cast(dt_compiler *cc, dt_node *n, dt_type *to);   /* as written in the program */
dt_node *dt_to_string(dt_compiler *cc, dt_node *n);	      /* string-compatible -> string */
/* n as a value of type `to`, converted as by assignment; NULL if it is incompatible. */
dt_node *dt_convert(dt_compiler *cc, dt_node *n, dt_type *to);
dt_node *dt_coerce(dt_compiler *cc, dt_node *n, dt_type *to); /* without a check: cast node or fold */
bool dt_pointers_fit(dt_compiler *cc, dt_type *a, dt_type *b); /* of pointers, arrays, strings */
bool dt_is_null(const dt_node *n);			      /* constant 0 */
dt_type *dt_decay(dt_compiler *cc, dt_type *t);		      /* array -> pointer to element */
void dt_set_object(dt_node *n, dt_type *t); /* type and NF_REF by the type's nature */
/* A pointer that was read from user memory points to user memory. */
void dt_user_pointer_read(dt_compiler *cc, dt_node *n);
const char *dt_op_name(int op);			/* "+", "==", ... */

/* ---- fold.c ---- */
dt_node *dt_fold1(dt_compiler *cc, dt_node *n);
dt_node *dt_fold2(dt_compiler *cc, dt_node *n);

#endif
