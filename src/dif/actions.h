/*
 * actions: the properties of each kind of action, from actions.def.
 *
 * An action is one step of a clause: it evaluates at most one expression, adds at most one datum
 * (its payload) to the record, and may have an effect that the engine performs. A statement is what
 * the user wrote; it becomes one or more actions, and tells the consumer what to do with their
 * data. Code tests the properties below instead of listing kinds of actions.
 */
#ifndef DT_ACTIONS_H
#define DT_ACTIONS_H

#include "base/base.h"

enum dt_act {
	DT_ACT_NONE = 0,
#define DT_ACT(sym, number, ...) DT_ACT_##sym = number,
#include "dif/actions.def"
#undef DT_ACT
};

/* The aggregating actions alone, so that a switch over them can be complete. */
enum dt_aggfunc {
#define DT_AGGFUNC(name, act, ...) DT_AGG_##act = DT_ACT_##act,
#include "dif/actions.def"
#undef DT_AGGFUNC
};
static inline enum dt_aggfunc dt_aggfunc(enum dt_act kind)
{
	return (enum dt_aggfunc)kind;
}

enum dt_stmt_kind {
#define DT_STMT(sym, aggs, format) DT_ST_##sym,
#include "dif/actions.def"
#undef DT_STMT
	DT_ST_MAX
};

enum dt_effect {
#define DT_EFFECT(sym) DT_EFFECT_##sym,
#include "dif/actions.def"
#undef DT_EFFECT
};

/* The bytes of a datum, which the engines write and the consumer reads. */
enum dt_payload {
	DT_PAYLOAD_NONE,
	DT_PAYLOAD_VALUE,   /* by the type of the DIFO: 1, 2, 4 or 8 bytes; a string with its NUL; an object as it is */
	DT_PAYLOAD_BYTES,   /* memory at the address that the DIFO gives */
	DT_PAYLOAD_COUNTED, /* u64 length, then memory (cut to what fits); the DIFO gives the address of
			       two words, address and length: memref() */
	DT_PAYLOAD_PACKET,  /* u32 captured, u32 length, then that many captured bytes of the sk_buff that the DIFO gives;
			       captured 0: there is none, or it is empty */
	DT_PAYLOAD_STACK,   /* u64 for each frame; 0 ends it */
	DT_PAYLOAD_USTACK,  /* u64 pid, then as STACK, then room for strings */
	DT_PAYLOAD_IMMSTACK, /* for each frame strsize bytes: the name, NUL, its offset as text, NUL; an empty name ends it */
	DT_PAYLOAD_SYM,	    /* u64 address */
	DT_PAYLOAD_USYM,    /* u64 pid, u64 address */
};

enum dt_expression { DT_EXPR_NO, DT_EXPR_YES, DT_EXPR_MAYBE };
enum dt_needs {
	DT_NEEDS_NOTHING = 0,
	DT_NEEDS_SYMBOLS = 1, /* names of addresses in processes */
	DT_NEEDS_KERNEL = 2,  /* the interpreter has nothing to record */
	DT_NEEDS_KERNEL_SYMBOLS = DT_NEEDS_KERNEL | DT_NEEDS_SYMBOLS,
	DT_NEEDS_DESTRUCTIVE = 4, /* option destructive */
};

struct dt_act_desc {
	enum dt_act kind;
	enum dt_expression expression;
	enum dt_payload payload;
	bool always_recorded; /* the consumer must see it even when it has no data */
	bool is_key;	      /* its datum can be a key of an aggregation */
	unsigned needs;	      /* DT_NEEDS_* */
	enum dt_effect effect;
	enum dt_stmt_kind stmt; /* that it begins when nothing else tells */
};
const struct dt_act_desc *dt_act_find(uint32_t kind); /* NULL: there is no such kind */
const struct dt_act_desc *dt_act(enum dt_act kind);   /* never NULL; an unknown one has no properties */

/* The first D function that makes such an action; "" if there is none. */
const char *dt_act_name(enum dt_act kind);

static inline bool dt_act_is_agg(enum dt_act kind)
{
	return dt_act(kind)->effect == DT_EFFECT_AGGREGATE;
}
static inline bool dt_act_is_stack(enum dt_act kind)
{
	enum dt_payload p = dt_act(kind)->payload;

	return p == DT_PAYLOAD_STACK || p == DT_PAYLOAD_USTACK || p == DT_PAYLOAD_IMMSTACK;
}
static inline bool dt_act_is_symbol(enum dt_act kind)
{
	enum dt_payload p = dt_act(kind)->payload;

	return p == DT_PAYLOAD_SYM || p == DT_PAYLOAD_USYM;
}
/* Are its data addresses, which have names? Those of immstack() are text. */
static inline bool dt_act_has_addresses(enum dt_act kind)
{
	return dt_act_is_symbol(kind) || (dt_act_is_stack(kind) && dt_act(kind)->payload != DT_PAYLOAD_IMMSTACK);
}

/* immstack(): what the kernel engine can make. strsize is a multiple of 8. */
enum { DT_IMMSTACK_FRAMES = 127, DT_IMMSTACK_STRSIZE = 128 };

/* Can an action of this kind begin such a statement? */
bool dt_act_makes(enum dt_act kind, enum dt_stmt_kind stmt);

struct dt_stmt_desc {
	enum { DT_AGGS_NONE, DT_AGGS_ONE, DT_AGGS_SOME } aggs; /* that it is about */
	bool has_format;
};
extern const struct dt_stmt_desc dt_stmts[DT_ST_MAX];

#endif
