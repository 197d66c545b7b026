/*
 * tr_flow: shared by tr_flow.c and tr_body.c only: the blocks of a clause, or of a function that clauses call.
 */
#ifndef DT_BPF_TR_FLOW_H
#define DT_BPF_TR_FLOW_H

#include "bpf/translate/translate.h"

/* slot->at, besides the numbers of blocks */
#define AT_END	  (-1)
#define AT_RETURN (-2) /* of a function */

enum { BODY_RETURNED, BODY_FAULTED, BODY_OVER }; /* what a function returns */

struct dt_blocks {
	dt_tr *t;
	const struct dt_plan_clause *x;
	uint32_t *label; /* of each action, and of the end */
	bool *leads, *entered; /* entered: some jump goes there */
	uint32_t part; /* the block at hand */
	bool *away; /* the action is in a function that is called */
	uint32_t from, to; /* the actions: of the clause, or of a function */
	bool in_callback; /* of bpf_loop() */
	uint32_t start; /* of the function with loops: its first instruction */
	uint32_t again; /* label: there it goes on at the block slot->at */
};

/* A word of the slot: FLOW_* */
static inline int dt_flow_word(const dt_tr *t, uint32_t which)
{
	return (int)(t->at->flow + which);
}

/* ---- tr_flow.c ---- */
/* The blocks of the clause, or of t->body; `end`: where they go when the clause ends. */
void dt_blocks_init(struct dt_blocks *b, dt_tr *t, const struct dt_plan_clause *x, uint32_t end);
void dt_blocks_emit(struct dt_blocks *b, uint32_t end);
void dt_blocks_free(struct dt_blocks *b);
uint32_t dt_blocks_go_to(struct dt_blocks *b, uint32_t action); /* its label */
void dt_blocks_callback(dt_tr *t, const struct dt_plan_clause *x, uint32_t func); /* the same as a callback of bpf_loop() */
/*
 *	bpf_loop(calls, func, {slot, ctx}, 0);
 *	r0 = slot->fault; if (r0) goto faulted
 */
void dt_flow_run(dt_tr *t, uint64_t calls, uint32_t func, uint32_t faulted);

/* ---- tr_body.c ---- */
/* Where the clause at hand has the function: the first action, and after 4 bytes the first part. */
int dt_body_word(const dt_tr *t, const struct dt_plan_body *body);
int dt_body_rounds(const dt_tr *t, uint32_t loop); /* of t->body: the word of its loop with this number, from 0 */
/* The body of the function that a calls or ends; NULL: it stays in the clause. */
const struct dt_plan_body *dt_body_of(const dt_tr *t, const struct dt_plan_clause *x, const dt_action *a);
void dt_bodies_mark(const dt_tr *t, const struct dt_plan_clause *x, bool *away); /* the actions of such functions */
void dt_bodies_begin(dt_tr *t, const struct dt_plan_clause *x); /* in the clause: before it calls any */
void dt_body_call(struct dt_blocks *b, const struct dt_plan_body *body);

#endif
