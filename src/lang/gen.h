/*
 * gen: shared by the files of the code generator only.
 *
 *   asm.c         instructions, labels, the tables of a DIFO
 *   gen_reg.c     values in registers: allocation, spilling, joins, the cache
 *   gen_common.c  which values occur more than once
 *   gen_load.c    addresses, loads, variables, calls
 *   gen_assign.c  stores
 *   gen_function.c  functions that are compiled once
 *   gen.c         operators; the entry points
 */
#ifndef DT_GEN_H
#define DT_GEN_H

#include "lang/compiler.h"

/* ---- a hash of numbers into some vector, for the tables ---- */
typedef struct dt_index {
	struct {
		uint32_t hash, pos; /* pos + 1; 0: free */
	} * slots;
	uint32_t cap, n;
} dt_index;
/* Position of the entry for which eq(ctx, pos) holds, or UINT32_MAX. */
uint32_t dt_index_find(const dt_index *ix, uint32_t hash, bool (*eq)(const void *ctx, uint32_t pos),
		       const void *ctx);
void dt_index_add(dt_index *ix, dt_arena *a, uint32_t hash, uint32_t pos);

/* A value: in a register, or spilled to a hidden clause-local variable. */
typedef struct dt_val {
	int reg;	 /* 0: spilled to slot */
	uint32_t refs;	 /* users that still need it; 0: only remembered */
	uint32_t pins;	 /* an instruction that uses it is being built: keep it */
	uint32_t seq;	 /* age, and identity: never the same for two values */
	uint32_t common; /* != 0: remembered as the value of this class (gen_common.c) */
	dt_ident *slot;
	struct dt_val *next; /* in the list of unused ones */
} dt_val;

/* Where conditional code began: what was in the registers. Every path must restore them before it
 * meets another. */
typedef struct dt_fork {
	bool taken;
	dt_val *live[DT_DIF_NREGS];
	uint32_t remembered[DT_DIF_NREGS]; /* seq of the remembered value, 0: none */
} dt_fork;

/* A class of expressions that compute the same value. */
typedef struct dt_common {
	/* what makes it the same */
	int kind, op;
	uint32_t a, b, c; /* classes of the operands */
	uint64_t extra;	  /* constant, offset, identifier */
	const void *type;
	/* its properties */
	uint32_t uses; /* places still to come */
	bool keep;     /* worth remembering */
	bool counted;  /* so have its operands, for the next time that it is computed */
	bool stable;   /* does not change while the probe fires */
} dt_common;

struct dt_gen_var {
	dt_ident *id;
	uint16_t flags; /* DT_VARF_* */
};
struct dt_gen_node {
	const dt_node *node;
	uint32_t common;
};

typedef struct dt_gen {
	dt_compiler *cc;
	dt_arena *arena;
	dt_pos pos; /* for messages: the expression */
	/* asm.c */
	DT_VEC(dt_instr) text;
	DT_VEC(uint32_t) labels; /* label -> instruction */
	DT_VEC(uint64_t) ints;
	DT_VEC(char) strings;
	DT_VEC(uint32_t) string_at; /* where each string begins */
	DT_VEC(struct dt_gen_var) vars;
	DT_VEC(dt_reloc) relocs;
	DT_VEC(dt_place) places;
	const dt_node *node; /* what code is being generated for */
	DT_VEC(dt_difo *) functions; /* that are called */
	bool inside; /* it is the code of a function */
	bool here;   /* such code is repeated: faults have the place of the call */
	dt_index int_ix, string_ix, var_ix;
	/* gen_reg.c */
	int nregs;
	dt_val *reg[DT_DIF_NREGS];
	uint32_t seq;
	dt_val *unused;
	DT_VEC(dt_ident *) free_slots;
	uint32_t nslots;
	/* gen_common.c */
	DT_VEC(dt_common) commons; /* [0] is not used */
	dt_index common_ix, node_ix;
	DT_VEC(struct dt_gen_node) nodes;
} dt_gen;

/* ---- asm.c ---- */
void dt_emit(dt_gen *g, dt_instr i);
uint32_t dt_label_new(dt_gen *g);
void dt_label_here(dt_gen *g, uint32_t label);
void dt_emit_branch(dt_gen *g, enum dt_op op, uint32_t label);
uint32_t dt_int_index(dt_gen *g, uint64_t v);
uint32_t dt_int_reloc(dt_gen *g, const char *name, uint64_t addend); /* its own slot */
uint32_t dt_string_offset(dt_gen *g, const char *s);
void dt_var_touch(dt_gen *g, dt_ident *id, uint16_t flags /* DT_VARF_* */);
dt_difo *dt_assemble(dt_gen *g);
bool dt_place_of(dt_gen *g, const dt_node *n, uint32_t at, dt_place *out); /* false: it is not from the source */

/* ---- gen_reg.c: every function that takes a value to make another takes over its reference ----
 */
dt_val *dt_val_new(dt_gen *g); /* in a register, one reference */
void dt_val_hold(dt_val *v);
void dt_val_drop(dt_gen *g, dt_val *v);
int dt_val_reg(dt_gen *g, dt_val *v); /* its register; loaded again if it was spilled */
int dt_val_pin(dt_gen *g, dt_val *v); /* the same, and it stays there until unpinned */
void dt_val_unpin(dt_val *v);
/* The value that the result of an operation on l and r (NULL: none) goes to: the register of one
 * that is not needed elsewhere, or a new one. l and r are pinned; both are given up. */
dt_val *dt_val_result(dt_gen *g, dt_val *l, dt_val *r);
dt_val *dt_val_own(dt_gen *g, dt_val *v); /* a copy, unless v is not needed elsewhere */
dt_val *dt_val_const(dt_gen *g, uint64_t c);
dt_val *dt_val_op2(dt_gen *g, enum dt_op op, dt_val *l, dt_val *r);
dt_val *dt_val_op1(dt_gen *g, enum dt_op op, dt_val *l); /* mov, not, loads */
/* Conditional code. */
void dt_fork_here(dt_gen *g, dt_fork *f); /* now, if not yet */
void dt_fork_branch(dt_gen *g, dt_fork *f, enum dt_op op, uint32_t label);
void dt_fork_restore(dt_gen *g, dt_fork *f, dt_val *keep); /* keep: the result of this path */
void dt_fork_label(dt_gen *g, dt_fork *f, uint32_t label); /* a place where paths meet */
void dt_val_move_to(dt_gen *g, dt_val *v, int reg);

/* ---- gen_common.c ---- */
void dt_common_scan(dt_gen *g, const dt_node *n);
dt_val *dt_common_find(dt_gen *g, const dt_node *n, uint32_t *common); /* NULL: must be computed */
void dt_common_keep(dt_gen *g, uint32_t common, dt_val *v);
void dt_common_forget(dt_gen *g); /* something was stored or called: only stable values are kept */

/* ---- gen_load.c ---- */
bool dt_gen_is_ref(const dt_node *n);
dt_val *dt_gen_addr(dt_gen *g, const dt_node *n, uint64_t plus);
dt_val *dt_gen_load(dt_gen *g, const dt_node *n, dt_val *addr); /* the object n at addr */
dt_val *dt_gen_extend(dt_gen *g, dt_val *v, unsigned from, unsigned width, bool is_signed);
dt_val *dt_gen_var(dt_gen *g, const dt_node *n);
dt_val *dt_gen_sym(dt_gen *g, const dt_node *n);
dt_val *dt_gen_call(dt_gen *g, const dt_node *n);
/* Evaluate keys or arguments, at most tregs of them; then push them. */
uint32_t dt_gen_tuple(dt_gen *g, const dt_node *list, dt_val **vals, dt_pos pos);
void dt_gen_push(dt_gen *g, const dt_node *list, dt_val **vals);
void dt_emit_var(dt_gen *g, dt_ident *id, bool store, int reg);

/* ---- gen_assign.c ---- */
dt_val *dt_gen_assign(dt_gen *g, const dt_node *n);
dt_val *dt_gen_object(dt_gen *g, const dt_node *n); /* a translated one, in scratch memory */
dt_val *dt_gen_incdec(dt_gen *g, const dt_node *n, bool value_used);

/* ---- gen_function.c ---- */
dt_val *dt_gen_function(dt_gen *g, const dt_node *n); /* the value of one: NF_SHARED */

/* ---- gen.c ---- */
dt_difo *dt_gen_finish(dt_gen *g, dt_val *v, const dt_node *n, dt_type *t, bool record);
dt_val *dt_gen_value(dt_gen *g, const dt_node *n);
/* l op r, where l (of type lt) is in a register already, and r too unless rv is NULL. */
dt_val *dt_gen_arith(dt_gen *g, int op, dt_val *l, dt_type *lt, const dt_node *r, dt_val *rv);
dt_val *dt_gen_scaled(dt_gen *g, const dt_node *n, uint64_t by); /* n * by */
/* The value of an expression n as the given type (truncated and extended as needed). */
dt_val *dt_gen_convert(dt_gen *g, dt_val *v, const dt_node *n, dt_type *to);
dt_val *dt_gen_exact(dt_gen *g, dt_val *v, const dt_node *n); /* wrapped around, if unsigned */
uint64_t dt_gen_pointee(dt_gen *g, dt_type *t); /* size of what it points to; 0: no pointer */

#endif
