/*
 * split: with option machines, what part of a clause runs on its machine and what part at the front (split.c).
 */
#ifndef DT_SPLIT_H
#define DT_SPLIT_H

#include "lang/compiler.h"

/* A checked clause. Afterwards pred and body are the front's part. */
struct dt_split {
	dt_node **pred; /* *pred NULL: none */
	dt_node *body;
	dt_clause *clause;
};

/* Note what the clause tells about variables: which are kept at the front. True: it must be split. */
bool dt_split_study(dt_compiler *cc, const struct dt_split *s);
/* Split it: the machine's part into `machine`, with its predicate; s->clause->rest says what becomes of its data. */
void dt_split_clause(dt_compiler *cc, const struct dt_split *s, dt_clause_builder *machine, dt_node **pred);
bool dt_split_is_constant(const dt_node *n); /* vmname or hostid, which differ by machine: not to be folded */

#endif
