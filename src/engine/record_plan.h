/*
 * record_plan: what becomes of the value of each action, and what a record costs.
 *
 * Both engines run clauses by the plan made here, so they agree on which clauses make a record, what
 * is in it, how much of the buffer it takes, and when a buffer is too small. The layout of the data
 * in an engine's own memory is private to it.
 *
 * A clause whose actions record nothing makes no record; a clause without actions, or with
 * speculate() alone, records that it ran (the default action).
 *
 * The record of a clause with if or loops is made of parts: each block (dif/graph.c) that runs and
 * records something adds one when it ends, so the parts are in the order of execution, and a block
 * that runs ten times has added ten. A part takes space of its own, when it is added; without space
 * it is lost and counted, and the clause continues. When a block faults its part is lost, the earlier
 * ones stay. The consumer joins the parts of one firing. All other clauses have one part, which is
 * the record; its space is reserved before the predicate runs.
 */
#ifndef DT_RECORD_PLAN_H
#define DT_RECORD_PLAN_H

#include "dif/dif.h"

enum dt_role {
	DT_ROLE_EFFECT, /* evaluated for its effect */
	DT_ROLE_DATA,	/* a datum of the record; it may have an effect as well */
	DT_ROLE_KEY_ID, /* the id of an aggregation, which its keys follow */
	DT_ROLE_KEY,	/* a key of the aggregation */
	DT_ROLE_AGG,	/* aggregates a value into the row of the keys before it */
};

/* Beside each dt_action. */
struct dt_action_plan {
	enum dt_role role;
	enum dt_payload payload;
	enum dt_effect effect;
	bool is_string;
	bool is_number; /* KEY: rows are equal by its value (dt_key_is_number) */
	uint32_t bound;	   /* bytes that the datum takes at most; of a string: with its NUL, and it may be known to be short */
	uint32_t offset;   /* DATA: in a part where each datum has its full size */
	uint32_t key;	   /* KEY: which, from 0 */
	const dt_agg *agg; /* KEY_ID, KEY and AGG: the aggregation */
};

typedef struct dt_record_part {
	uint32_t first, nactions;
	uint32_t data_size; /* all data at full size, aligned */
	uint32_t cost;	    /* bytes of the buffer; 0: nothing is recorded */
	bool speculates;    /* it may belong to a speculation */
} dt_record_part;

typedef struct dt_record_plan {
	struct dt_action_plan *actions; /* as many as the clause has */
	dt_record_part *parts;		/* at least one */
	uint32_t nparts;
	uint32_t cost;	/* of the largest part; 0: nothing is recorded */
	uint32_t loops, functions; /* how many the clause has */
	bool has_control; /* the clause is a graph of blocks: parts are added one by one */
	bool exits, speculates, aggregates; /* there is such an action */
} dt_record_plan;
/* How often functions can be called in a firing, with this loopmax. */
static inline uint64_t dt_record_calls(uint64_t loopmax)
{
	return loopmax * 64 < 1u << 22 ? loopmax * 64 : 1u << 22;
}
/* Can an action run twice in a firing? */
static inline bool dt_record_repeats(const dt_record_plan *p)
{
	return p->loops || p->functions;
}
/* The part that the action is in. */
static inline uint32_t dt_record_part_at(const dt_record_plan *p, uint32_t action)
{
	uint32_t lo = 0, hi = p->nparts;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->parts[mid].first <= action)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}
#define DT_PARTS_MAX 65535 /* of a clause */

/* 0, or -1 and *err: keys without an aggregation, or more data than a record can have. The arrays
 * are in the arena, or on the heap if that is NULL; then to be freed. */
int dt_record_plan_make(dt_record_plan *p, const dt_clause *c, dt_arena *a, dt_error *err);
void dt_record_plan_free(dt_record_plan *p); /* on the heap */
/* The name of an action of the clause that no engine supports, or NULL. */
const char *dt_clause_refused(const dt_clause *c);

/*
 * ---- the principal buffer of a CPU ----
 *
 * Its size counts records as DTrace lays them out, whatever the engine's own layout: a header of 12
 * bytes, then each value (strings with strsize bytes) at a multiple of the largest power of two, up
 * to 8, that divides its size; all rounded up to the largest such alignment, at least 4. A clause
 * whose record does not fit, even because it is larger than the buffer, does not run and is counted
 * as a drop. A clause with exit() runs nevertheless, and only its record is dropped: tracing would
 * never end (not with the fill policy, where a full buffer ends it).
 */
static inline bool dt_record_ends(const dt_record_plan *p, uint64_t policy)
{
	return p->exits && policy != DT_BUFPOLICY_FILL;
}
#define DT_BUFFER_DEFAULT (4ull << 20) /* when the option says nothing */
#define DT_RECORD_HEADER  12	       /* what a record costs besides its data */
#define DT_CHUNK_MIN(room) ((room) < 65536 ? 256u : 0) /* of a dynamic variable, as in DTrace, where room is counted to the byte */
#define DT_FAULT_COST	  48	       /* what a fault costs */

typedef struct dt_buffer_plan {
	uint64_t size;	      /* raised to the largest record if the program aggregates */
	uint64_t largest;     /* record */
	uint64_t aggsize;     /* the option; 0: not set */
	uint64_t end_reserve; /* fill policy: kept free for the records of END */
	bool reserves;	      /* that policy is set */
	bool aggregates;      /* some clause does */
} dt_buffer_plan;

void dt_buffer_plan_init(dt_buffer_plan *b, const dt_options *o);
/* A clause that can run; at_end: on END. -1 and *err: the buffer has no byte for it. */
int dt_buffer_plan_add(dt_buffer_plan *b, const dt_record_plan *r, bool at_end, dt_error *err);
int dt_buffer_plan_check(dt_buffer_plan *b, dt_error *err); /* after all clauses */

/* ---- chill() ---- */
#define DT_CHILL_MAX	  500000000  /* nanoseconds of chill() on a CPU ... */
#define DT_CHILL_INTERVAL 1000000000 /* ... in this many */

#endif
