/*
 * slot: the memory of one firing.
 *
 * Each CPU has some slots (a value of a map each); a firing claims one and keeps everything that
 * its code works on in it, so that the verifier has nothing to track. Fields at fixed offsets come
 * first, then areas whose offsets depend on the program (plan/layout.h). In code R6 is the slot.
 */
#ifndef DT_BPF_CODE_SLOT_H
#define DT_BPF_CODE_SLOT_H

#include "bpf/code/emit.h"

enum {
	S_CPU = 0,	/* u32 */
	S_INDEX = 4,	/* u32: cpu * nslots + which */
	S_PROBE = 8,	/* u32: index into the plan's probes */
	S_CLAUSE = 12,	/* u32: index into the plan's clauses */
	S_TIME = 16,	/* timestamp; 0: not read yet */
	S_GEN = 24,	/* u32 */
	S_FLAGS = 28,	/* u32: SF_* */
	S_FAULT = 32,	/* u32: code + 1; 0: none */
	S_FACTION = 36, /* u32 */
	S_FOFFSET = 40, /* s32 */
	S_SPEC = 44,	/* u32: id of the speculation the record goes to */
	S_FVALUE = 48,
	S_CURSOR = 56,	 /* u32: end of the record so far */
	S_RESERVED = 60, /* u32: bytes of a small buffer set aside for the record */
	S_USED = 64,	 /* bytes of scratch in use */
	S_CMP_A = 72,	 /* operands of the last cmp */
	S_CMP_B = 80,
	S_VALUE = 88, /* argument of an aggregating action, and its increment */
	S_INCR = 96,
	S_SELF = 104,	     /* an address on its way to becoming a number */
	S_TMP = 112,	     /* 16 bytes: what a load reads into */
	S_REGS = 128,	     /* 8 DIF registers */
	S_TUPLE = 192,	     /* 8 tuple registers */
	S_EARGS = 256,	     /* 6 arguments of ERROR */
	S_COMM = 304,	     /* execname */
	S_PTREGS = 320,	     /* registers of the system call, the first of them */
	S_NUMBER = S_PTREGS, /* places in user code: dt_attach's number */
	S_PTREGS_SIZE = 168,
	S_TOKLIVE = S_PTREGS + S_PTREGS_SIZE,     /* strtok() has text left */
	S_DIGITS = 496,	     /* 128 bytes: numbers and addresses as text */
	S_SPECSEQ = 624,     /* u32: which use of the speculation id */
	S_ARRAY = 628,	     /* u32: which array last_key belongs to: scope << 16 | id; 0: none */
	S_BUCKET = 632,
	S_PARGS = 640,	/* 10 arguments of the probe, made by its prologue */
	S_PUSED = 720,	/* bytes of scratch that hold arguments (strings) */
	S_TOKLEN = 728, /* the length of strtok()'s text, and where it continues */
	S_TOKAT = 736,
	S_PART = 744,	/* the firing whose next clauses are in another program: tr_program.c */
	S_THREAD = 752, /* threadname */
	S_GIVEN = 768,	/* bytes that alloca() and copyin() of this clause were given, with option scratchsize ... */
	S_SOURCE = 776, /* ... and the clause of the program, plus 1: parts of one share them */
	S_ABSENT = 784, /* u32: a read of this firing failed because user memory was not in memory */
	S_SCALE = 788,	/* u32: option overhead: how often what is aggregated counts */
	S_FUNCTION_REGS = 792, /* 8 DIF registers of a function of D: tr_function.c */
	S_WRITTEN = 856, /* u32: bytes of records since the buffer's fill level was last looked at */
	S_POPS = 860,	/* u32: places in user code: row's */
	S_IDS = 864,	/* system calls: process and thread, as get_current_pid_tgid() has them */
	S_TASK = 872,	/* the same: the thread, tr_current.c */
	S_UNWIND = 880, /* state of the walker of user stacks, if there is one: unwind.c */
	S_UNWIND_SIZE = 1584,
	S_AREAS = S_UNWIND + S_UNWIND_SIZE,
};
#define DT_SUB_LOCALS_MAX (48u * 24) /* 48 subroutines (lib.c has fewer) with 24 variables each */

/* COMPAT: a system call of a 32-bit program; the others: this part of the slot is filled in */
enum { SF_ARGS = 1, SF_COMM = 2, SF_COMPAT = 4, SF_THREAD = 8 };

#define DT_SLOT_FAR 32000 /* beyond the offset of an instruction */

/* dst = slot + off */
static inline void dt_slot_lea(dt_code *c, int dst, uint32_t off)
{
	mov(c, dst, R6);
	alui(c, BPF_ADD, dst, (int32_t)off);
}

/* *(uN *)(slot + off) = src. r5 is used when the place is far. */
static inline void dt_slot_st(dt_code *c, uint32_t size, uint32_t off, int src)
{
	if (off < DT_SLOT_FAR) {
		st(c, size, R6, (int)off, src);
	} else {
		dt_slot_lea(c, R5, off);
		st(c, size, R5, 0, src);
	}
}

#endif
