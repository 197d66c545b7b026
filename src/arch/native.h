/*
 * native: makes machine code of simple steps: the functions that the process engine runs in a target in place of DIF.
 *
 * A function has two arguments, which it keeps (DT_N_BASE, DT_N_FRAME), and a third, which it may keep on its stack. A place is a
 * register or a word of its stack, and every step takes any of them. A step changes no place but its destination, and the flags
 * of the last comparison.
 *
 * The code runs at `at`, and calls functions that are at most 2 GB from there.
 */
#ifndef DT_ARCH_NATIVE_H
#define DT_ARCH_NATIVE_H

#include "base/base.h"

enum dt_nplace {
	DT_N_BASE, DT_N_FRAME,			/* the arguments of the function */
	DT_N_KEEP,				/* this one and three more: kept over calls */
	DT_N_T0 = DT_N_KEEP + 4,		/* what a call returns, and the function */
	DT_N_A0, DT_N_A1, DT_N_A2,		/* arguments of a call; after it they are undefined */
	DT_N_STACK,				/* this one and DT_N_WORDS - 1 more: words of the stack */
};
#define DT_N_KEPT  4
#define DT_N_WORDS 8

enum dt_nop { DT_N_ADD, DT_N_SUB, DT_N_AND, DT_N_OR, DT_N_XOR, DT_N_MUL, DT_N_SHL, DT_N_SHR, DT_N_SAR };
enum dt_ndiv { DT_N_SDIV, DT_N_UDIV, DT_N_SREM, DT_N_UREM };
enum dt_ncond {
	DT_N_ALWAYS, DT_N_EQ, DT_N_NE, DT_N_GT, DT_N_GE, DT_N_LT, DT_N_LE, /* signed */
	DT_N_GTU, DT_N_GEU, DT_N_LTU, DT_N_LEU,
};

struct dt_native_jump {
	uint32_t at, label;
};
typedef struct dt_native {
	uint64_t at; /* where the code will be */
	uint8_t *code;
	uint32_t size, cap;
	bool failed; /* it does not fit, or a call is too far */
	DT_VEC(uint32_t) labels; /* offset of each; UINT32_MAX: not there yet */
	DT_VEC(struct dt_native_jump) jumps;
	uint32_t kept; /* of this function: how many of DT_N_KEEP it uses */
} dt_native;

/* ---- native.c ---- */
uint32_t dt_native_label(dt_native *n); /* a new one; branches to it may come before it is set */
void dt_native_free(dt_native *n);

/* The steps, for each CPU that has them. */
struct dt_native_ops {
	void (*begin)(dt_native *n, uint32_t kept); /* a function; its third argument is in A2 */
	void (*end)(dt_native *n);		    /* it returns T0; all labels are resolved */
	void (*set)(dt_native *n, uint32_t label);  /* the label is here */
	void (*move)(dt_native *n, uint32_t to, uint32_t from);
	void (*constant)(dt_native *n, uint32_t to, uint64_t value);
	/* Memory at a register plus a distance: 1, 2, 4 or 8 bytes; loads of 4 or 8, zero-extended. */
	void (*load)(dt_native *n, uint32_t to, uint32_t base, uint32_t distance, uint32_t size);
	void (*store)(dt_native *n, uint32_t base, uint32_t distance, uint32_t from, uint32_t size);
	void (*add_to)(dt_native *n, uint32_t base, uint32_t distance, uint32_t value); /* to 8 bytes of memory */
	void (*compute)(dt_native *n, enum dt_nop op, uint32_t to, uint32_t a, uint32_t b);  /* shifts: modulo 64 */
	void (*divide)(dt_native *n, enum dt_ndiv op, uint32_t to, uint32_t a, uint32_t b);   /* b is not 0; overflow wraps */
	void (*compare)(dt_native *n, uint32_t a, uint32_t b);
	void (*branch)(dt_native *n, enum dt_ncond c, uint32_t label);
	void (*call)(dt_native *n, uint64_t function);
};
const struct dt_native_ops *dt_native_host(void); /* for the CPU of this host; NULL: there are none */

#endif
