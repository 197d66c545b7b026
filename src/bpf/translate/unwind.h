/*
 * unwind: shared by the files of the walker of user stacks.
 *
 *	dt_objects	hash: dt_uw_key, which file -> dt_uw_object, where its table is
 *	banks		arrays of 2 MB that hold the tables, mapped into this process
 *	dt_wanted	hash: files without a table that a walk has met -> where they are
 *
 * A table in a bank is rows (dt_unwind_row, src/elf/cfi.h) and before them an index: for every
 * block of 256 bytes of the file the number of the row that is in effect at its first byte. So a
 * search begins in the right block, which has a handful of rows. A table larger than a bank is
 * split into pieces.
 *
 *   unwind.c       the walk
 *   unwind_rule.c  one step of it, by a row
 *   unwind_find.c  which file is mapped at an address
 *   tables.c       makes the tables, in this process
 */
#ifndef DT_BPF_TRANSLATE_UNWIND_H
#define DT_BPF_TRANSLATE_UNWIND_H

#include <stddef.h>

#include "bpf/translate/translate.h"
#include "elf/cfi.h"

#define UW_BANK	      (2u << 20)
#define UW_BANKS      64u
#define UW_ROWS	      (UW_BANK / (uint32_t)sizeof(dt_unwind_row))
#define UW_WORDS      (UW_BANK / 4)
#define UW_BLOCK_BITS 8
#define UW_OBJECTS    16384u
#define UW_WANTED     256u
#define UW_PIECES     31u /* of one object; a power of two less one */
#define UW_NO_BANK    UINT32_MAX

/* The file as the kernel knows it; only programs make keys. Inode numbers are reused, so size and
 * change time are part of it. */
struct dt_uw_key {
	uint64_t inode, sb;   /* sb: an address, which only identifies the file system */
	uint64_t size, mtime; /* nanoseconds */
};
#define UW_VDSO_INODE UINT64_MAX /* the vDSO is not a file */

struct dt_uw_object {
	uint32_t end[UW_PIECES +
		     1]; /* of each piece, an offset in the file; UINT32_MAX after the last */
	struct dt_uw_piece {
		uint32_t start;
		uint32_t index; /* word of the bank where the index would begin if it began at file
				   offset 0 */
		uint32_t bank;	/* UW_NO_BANK: there is no piece */
		uint32_t empty; /* the first one: the file has no table */
	} piece[UW_PIECES + 1];
};

struct dt_uw_want {
	uint32_t pid, pad;
	uint64_t addr;
};

/* ---- the code of the walker: words in the slot, functions that its files share ---- */

/* The walker's words in the slot. */
enum {
	U_OUT = S_UNWIND,    /* u32: where frames go: offset in the slot */
	U_MAX = U_OUT + 4,   /* u32: how many at most */
	U_N = U_OUT + 8,     /* u32: so far */
	U_NEXT = U_OUT + 12, /* u32: which cache entry is replaced next */
	U_PC = U_OUT + 16,
	U_SP = U_OUT + 24,
	U_FP = U_OUT + 32,
	U_BASE = U_OUT + 40,
	U_FPAT = U_OUT + 48, /* 0: U_FP is right; LOST; else the address where it is */
	U_BASEAT = U_OUT + 56,
	U_SOURCE = U_OUT + 64, /* u32: where the other registers are */
	U_BACK = U_OUT + 68,   /* u32: 1: pc is a return address and belongs to the call before */
	U_ROOT = U_OUT + 72,   /* of the tree of mappings */
	U_VDSO = U_OUT + 80,
	U_KEY = U_OUT + 88,	 /* pc - back */
	U_NODE = U_OUT + 96,	 /* node of the tree; in the end the mapping */
	U_LEAF = U_OUT + 104,	 /* u32 */
	U_ENTRY = U_OUT + 108,	 /* u32: offset of the cache entry that find() has filled */
	U_SIGNAL = U_OUT + 112,	 /* address of the saved registers of the last signal frame; in the first frame: */
	U_NUMBER = U_SIGNAL,	 /* (only if the return address is in a register) that of the row; 0: there is none */
	U_RI = U_OUT + 120,	 /* the next return probe that is pending in this thread */
	U_RISTACK = U_OUT + 128, /* where it has put its own return address; 0: no more */
	U_RIORIG = U_OUT + 136,	 /* what was there */
	U_RISEEK = U_OUT + 144,
	U_CACHE = U_OUT + 152, /* 4 mappings */
	U_BUF = U_CACHE + 4 * 32,
	U_WORD = U_BUF + 256,	    /* the result of word() */
	U_WINDOW_AT = U_WORD + 8,   /* a piece of the user stack: its address */
	U_WINDOW_MAX = U_WORD + 16, /* the largest offset at which 8 bytes of it can be read */
	U_WINDOW = U_WORD + 24,
	U_END = U_WINDOW + 1024,
};

enum {
	C_START = 0,
	C_LEN = 8,
	C_DELTA = 16,
	C_INDEX = 24,
	C_BANK = 28,
	C_SIZE = 32,
	C_ENTRIES = 4
};
/* BY_FP: none, and this step was one by the frame pointer; NEAR: none, and the stack pointer may be too low */
enum { SOURCE_NONE, SOURCE_REGS, SOURCE_SIGNAL, SOURCE_BY_FP, SOURCE_NEAR };
#define LOST 1

static inline void copy_word(dt_code *c, int to, int from)
{
	ld(c, 8, R1, R6, from);
	st(c, 8, R6, to, R1);
}

/* probe_read(slot + to, n, r3); `fail` when it cannot be read */
static inline void read_memory(dt_code *c, bool user, int to, uint32_t n, uint32_t fail)
{
	dt_slot_lea(c, R1, (uint32_t)to);
	movi(c, R2, (int32_t)n);
	helper(c, user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, fail);
}

static inline void answer(dt_code *c, int32_t n)
{
	movi(c, R0, n);
	leave(c);
}

/* dst = a bit field of the unsigned 32-bit number in src, as a signed number */
static inline void signed_field(dt_code *c, int dst, int src, int low, int high)
{
	mov(c, dst, src);
	alui(c, BPF_LSH, dst, 63 - high);
	alui(c, BPF_ARSH, dst, 63 - high + low);
}

/* bpf_loop(n, func, &slot, 0) */
static inline void loop(dt_code *c, uint32_t func)
{
	st(c, 8, R10, -8, R6);
	dt_code_func_addr(c, R2, func);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, -8);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
}

/* A callback of bpf_loop: r6 = the slot */
static inline void begin_callback(dt_code *c, uint32_t func)
{
	dt_code_func_begin(c, func); /* the kernel requires callbacks to be static */
	ld(c, 8, R6, R2, 0);
}

/* ---- unwind_find.c ---- */
bool dt_uw_known_tree(const dt_tr *t); /* the kernel's tree of mappings has the known form */
bool dt_uw_can(dt_tr *t); /* while learning, fills in what it needs */
/* find(slot): r0 = offset of the cache entry that is now about U_KEY; -1: nothing is mapped there
 */
void dt_uw_find_function(dt_tr *t, uint32_t func);
/* The mappings and pending return probes of the task in r8; to `none` for a kernel thread. Uses r7. */
void dt_uw_note_task(dt_tr *t, uint32_t none);

/* ---- unwind_rule.c ---- */
struct frame { /* making the code of one step */
	dt_tr *t;
	uint32_t stop;		 /* the stack ends here */
	uint32_t by_fp;		 /* no row: the frame pointer */
	uint32_t have_cfa;	 /* r9 = CFA, r8 = places of fp and base */
	uint32_t word, instance; /* functions; instance 0: not called */
};
/* By the row in r7 and r8: to have_cfa, to by_fp, or out. */
void dt_uw_apply_row(struct frame *f);
void dt_uw_step_by_fp(struct frame *f); /* control continues with r9 and r8 as at have_cfa */
void dt_uw_next_frame(struct frame *f); /* at have_cfa: all that changes; U_PC is 0 at the end */
void dt_uw_rule_functions(struct frame *f); /* called by the above */

#endif
