/*
 * emit: a builder for eBPF instructions.
 *
 * Jumps name labels, calls name functions; both get their distances in dt_code_finish(). A
 * program is a list of functions, the first of which is where the kernel enters. Maps are named by
 * their file descriptors, which exist before any code is made.
 *
 * The helpers below are one instruction each (two for 64-bit constants); the comment beside each
 * says what it emits. Register use throughout src/bpf:
 *
 *	r0	results
 *	r1-r5	arguments, lost by every call
 *	r6	the slot
 *	r7	context of the probe
 *	r8 r9	free for one emitter at a time
 */
#ifndef DT_BPF_CODE_EMIT_H
#define DT_BPF_CODE_EMIT_H

#include <linux/bpf.h>

#include "base/base.h"

#define DT_MAY_GOTO (BPF_JMP | 0xe0) /* the headers of an old kernel have no BPF_JCOND */

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

struct dt_code_fix {
	uint32_t insn, target;
	bool is_call; /* target is a function, else a label */
};
struct dt_code_func {
	uint32_t start; /* UINT32_MAX: not emitted yet */
	uint32_t nargs; /* verified on its own, with this many arguments; 0: as a part of its callers */
	bool keys;	/* it, or a function it calls, uses map keys in the slot */
	bool numbers;	/* ... all of which are numbers; else the first one is the slot */
	bool own_slot;	/* it has looked up the slot itself, so keys in it are allowed */
	char name[48];
};

typedef struct dt_code {
	DT_VEC(struct bpf_insn) insns;
	DT_VEC(uint32_t) labels; /* label -> instruction, UINT32_MAX: not placed yet */
	DT_VEC(struct dt_code_fix) fixes;
	DT_VEC(struct dt_code_func) funcs;
	uint32_t placed;     /* where the last label was placed */
	bool memory_keys;    /* functions that are verified on their own may use map keys in the slot (Linux 6.2) */
	bool sleeps;	     /* it calls helpers that may sleep */
	uint32_t shared;     /* instructions of functions that several clauses call */
	const char *problem; /* first thing that went wrong; static text */
} dt_code;

void dt_code_free(dt_code *c);
/* Resolve jumps and calls. 0, or -1 with c->problem. */
int dt_code_finish(dt_code *c);

/* How deep functions call each other, the first one (function 0) included; callbacks count as calls. */
uint32_t dt_code_frames(const dt_code *c);
#define DT_FRAMES_MAX 8 /* of the kernel */

/* ---- functions and labels ---- */
uint32_t dt_code_func_new(dt_code *c, const char *name); /* callable before it is emitted */
void dt_code_func_begin(dt_code *c, uint32_t func);
/* The kernel verifies a static function again for every call, a global one only once. A global
 * function takes the slot and numbers, and must check whether the slot is NULL; the kernel removes
 * that check. */
void dt_code_func_begin_global(dt_code *c, uint32_t func, uint32_t nargs);
uint32_t dt_code_label(dt_code *c);
void dt_code_place(dt_code *c, uint32_t label);
bool dt_code_is_target(const dt_code *c, uint32_t label); /* some jump goes there */
/* A function that is emitted inside another one: from instruction `from` on, leaving is jumping to the label. */
void dt_code_leave_to(dt_code *c, uint32_t from, uint32_t label);
/* How many bytes of the stack the instructions from `from` on use, a multiple of 8. */
int dt_code_stack_depth(const dt_code *c, uint32_t from);

/* ---- instructions ---- */
void dt_code_insn(dt_code *c, uint8_t code, int dst, int src, int16_t off, int32_t imm);
void dt_code_imm64(dt_code *c, int dst, int src, uint32_t lo, uint32_t hi);

static inline int dt_code_size(uint32_t bytes)
{
	return bytes == 1 ? BPF_B : bytes == 2 ? BPF_H : bytes == 4 ? BPF_W : BPF_DW;
}
/* dst = src */
static inline void mov(dt_code *c, int dst, int src)
{
	dt_code_insn(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}
/* dst = (u32)src */
static inline void mov32(dt_code *c, int dst, int src)
{
	dt_code_insn(c, BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0);
}
/* dst = n, sign-extended */
static inline void movi(dt_code *c, int dst, int32_t n)
{
	dt_code_insn(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, n);
}
/* dst = n, any 64-bit number */
static inline void movq(dt_code *c, int dst, uint64_t n)
{
	if ((int64_t)n == (int32_t)n)
		movi(c, dst, (int32_t)n);
	else
		dt_code_imm64(c, dst, 0, (uint32_t)n, (uint32_t)(n >> 32));
}
/* dst op= src; op: BPF_ADD ... */
static inline void alu(dt_code *c, int op, int dst, int src)
{
	dt_code_insn(c, (uint8_t)(BPF_ALU64 | op | BPF_X), dst, src, 0, 0);
}
static inline void alui(dt_code *c, int op, int dst, int32_t n)
{
	dt_code_insn(c, (uint8_t)(BPF_ALU64 | op | BPF_K), dst, 0, 0, n);
}
/* dst = *(uN *)(base + off) */
static inline void ld(dt_code *c, uint32_t size, int dst, int base, int off)
{
	dt_code_insn(c, (uint8_t)(BPF_LDX | BPF_MEM | dt_code_size(size)), dst, base, (int16_t)off,
		    0);
}
/* *(uN *)(base + off) = src */
static inline void st(dt_code *c, uint32_t size, int base, int off, int src)
{
	dt_code_insn(c, (uint8_t)(BPF_STX | BPF_MEM | dt_code_size(size)), base, src, (int16_t)off,
		    0);
}
/* *(uN *)(base + off) = n */
static inline void sti(dt_code *c, uint32_t size, int base, int off, int32_t n)
{
	dt_code_insn(c, (uint8_t)(BPF_ST | BPF_MEM | dt_code_size(size)), base, 0, (int16_t)off, n);
}
/* *(u64 *)(base + off) op= src, atomically; op may hold BPF_FETCH, or be BPF_CMPXCHG */
static inline void atomic(dt_code *c, int op, int base, int off, int src)
{
	dt_code_insn(c, BPF_STX | BPF_ATOMIC | BPF_DW, base, src, (int16_t)off, op);
}
/* if dst op src goto label; op: BPF_JEQ ... */
void dt_code_jump(dt_code *c, int op, int dst, int src, uint32_t label);
void dt_code_jumpi(dt_code *c, int op, int dst, int32_t n, uint32_t label);
static inline void jmp(dt_code *c, int op, int dst, int src, uint32_t label)
{
	dt_code_jump(c, op, dst, src, label);
}
static inline void jmpi(dt_code *c, int op, int dst, int32_t n, uint32_t label)
{
	dt_code_jumpi(c, op, dst, n, label);
}
static inline void ja(dt_code *c, uint32_t label)
{
	dt_code_jumpi(c, BPF_JA, 0, 0, label);
}
/* goto label if the function has jumped back too often (DT_FEATURE_MAY_GOTO); a jump back follows */
void dt_code_may_goto(dt_code *c, uint32_t label);
static inline void helper(dt_code *c, int id)
{
	dt_code_insn(c, BPF_JMP | BPF_CALL, 0, 0, 0, id);
}
static inline void kernel_function(dt_code *c, int32_t btf_id)
{
	dt_code_insn(c, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, btf_id);
}
void dt_code_call(dt_code *c, uint32_t func);
void dt_code_func_addr(dt_code *c, int dst, uint32_t func); /* for callbacks */
static inline void leave(dt_code *c)
{
	dt_code_insn(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
/* dst = the map itself */
static inline void map(dt_code *c, int dst, int fd)
{
	dt_code_imm64(c, dst, BPF_PSEUDO_MAP_FD, (uint32_t)fd, 0);
}
/* dst = address of byte `off` of the only value of a map */
static inline void map_value(dt_code *c, int dst, int fd, uint32_t off)
{
	dt_code_imm64(c, dst, BPF_PSEUDO_MAP_VALUE, (uint32_t)fd, off);
}

#endif
