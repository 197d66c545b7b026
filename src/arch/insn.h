/*
 * insn: the machine code of one user function (x86-64, or i386 in a 32-bit program), as far as probes need to know it: where its
 * instructions begin, where it returns, and where its entry is best probed.
 *
 * What a uprobe costs depends on the instruction under it. The kernel emulates a few (push of a
 * register, nop, relative jumps and calls) in about 0.6 µs; all others it executes out of line
 * under single step, which took 9 µs where this was written. See doc/providers/pid.md.
 */
#ifndef DT_ARCH_INSN_H
#define DT_ARCH_INSN_H

#include "base/base.h"

enum dt_insn_flag {
	DT_INSN_CHEAP = 1,  /* emulated by the kernel */
	DT_INSN_RETURN = 2, /* ret */
	DT_INSN_JUMP = 4,   /* goes to `target`, always or sometimes */
	DT_INSN_MAYBE = 8,  /* ... sometimes */
	DT_INSN_INDIRECT =
	    16, /* a jump to where only the processor knows, which is no table of this function */
	DT_INSN_REFUSED = 32, /* the kernel would not put a uprobe here, or it would do harm */
	DT_INSN_ENDBR = 64,
};

typedef struct dt_insn {
	uint32_t offset; /* from the start of the function */
	uint8_t length;
	uint8_t flags;
	uint8_t condition; /* MAYBE: the low four bits of the opcode */
	uint32_t frame;	   /* on the way to the entry probe: bytes the stack pointer has moved */
	uint64_t target;   /* JUMP */
} dt_insn;

typedef struct dt_body {
	uint64_t vaddr, size;
	DT_VEC(dt_insn) insns;
	bool whole; /* no: at some place there is no instruction that we know; those before it are
		       there */
} dt_body;

struct dt_insn_mode {
	bool optimizes; /* the kernel: a uprobe on a five-byte nop becomes a call (Linux 6.18), other
			   long nops are emulated */
	bool narrow;	/* the code: 32 bits. Nothing becomes a call then */
	bool go;	/* the code: by Go's compiler. Functions begin with a look at the size of their
			   stack, and begin again when that has been made larger */
};
/* What the running kernel does. */
void dt_insn_kernel(struct dt_insn_mode *k);

/* Decode the n bytes of a function at vaddr. The body may be used again for another function. */
void dt_body_decode(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr);
void dt_body_free(dt_body *b);
/* The instruction that begins at an offset; NULL: none does. */
const dt_insn *dt_body_at(const dt_body *b, uint64_t offset);
/* Only the places that its jumps go to, added to a list: much faster than all of the above. */
typedef DT_VEC(uint64_t) dt_targets;
void dt_targets_add(dt_targets *to, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr);

/* The cheapest instruction behind which the function has been entered with its arguments still as
 * they were; the return address is `frame` bytes above the stack pointer. The code may be cut
 * short. If its offset is not 0, the caller must make sure that nothing jumps there or to one
 * before it; if something does, or if that cannot be told, `first` gives the first one. False: no
 * instruction that we know. */
bool dt_insn_entry(const struct dt_insn_mode *k, const uint8_t *code, size_t n, bool first,
		   dt_insn *best);

#endif
