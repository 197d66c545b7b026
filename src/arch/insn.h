/*
 * insn: the machine code of one function, as far as probes need to know it: where its instructions begin, where it
 * returns, and where its entry is best probed.
 *
 * What a uprobe costs depends on the instruction under it. The kernel emulates a few (on x86-64
 * push of a register, nop, relative jumps and calls) in about 0.6 µs; it single-steps all others
 * out of line, which took 9 µs on the machine where this was written. See doc/providers/pid.md.
 */
#ifndef DT_ARCH_INSN_H
#define DT_ARCH_INSN_H

#include "base/base.h"

enum dt_insn_flag {
	DT_INSN_CHEAP = 1,  /* emulated by the kernel */
	DT_INSN_RETURN = 2,
	DT_INSN_JUMP = 4,   /* goes to `target`, always or sometimes */
	DT_INSN_MAYBE = 8,  /* ... sometimes */
	DT_INSN_INDIRECT = 16, /* a jump to a computed address that is not from a table of this function */
	DT_INSN_REFUSED = 32, /* the kernel refuses a uprobe here, or it would do harm */
	DT_INSN_LANDING_PAD = 64, /* a valid target of indirect calls and jumps */
	DT_INSN_TABLE = 128, /* a jump to a computed address, from a table of this function */
};

typedef struct dt_insn {
	uint32_t offset; /* from the start of the function */
	uint8_t length;
	uint8_t flags;
	uint16_t condition; /* MAYBE: which one, for dt_arch.call.condition */
	uint32_t frame;	   /* on the way to the entry probe: bytes the stack pointer has moved */
	uint32_t pops;	   /* RETURN of 64-bit code: bytes that it takes from the stack, the return address first; 0: it does something else */
	uint64_t target;   /* JUMP */
} dt_insn;

typedef struct dt_body {
	uint64_t vaddr, size;
	DT_VEC(dt_insn) insns;
	bool whole; /* false: decoding ended at an unknown instruction; those before it are there */
} dt_body;

struct dt_insn_mode {
	bool optimizes; /* the kernel: a uprobe on a nop that is long enough becomes a call (Linux 6.18 on x86-64),
			   other long nops are emulated */
	bool narrow;	/* the code: 32 bits. Nothing becomes a call then */
	bool go;	/* the code: made by Go's compiler. Functions begin by checking the size of their stack, and start again after it has grown */
};
/* What the running kernel does. */
void dt_insn_kernel(struct dt_insn_mode *k);

/* Decode the n bytes of a function at vaddr. The body may be used again for another function. */
void dt_body_decode(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr);
void dt_body_free(dt_body *b);
/* The instruction that begins at an offset, or NULL. */
const dt_insn *dt_body_at(const dt_body *b, uint64_t offset);
/* Only the targets of its jumps, added to a list: much faster than all of the above. */
typedef DT_VEC(uint64_t) dt_jump_targets;
void dt_jump_targets_add(dt_jump_targets *to, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr);

/* The cheapest instruction at which the function has been entered and its arguments are unchanged;
 * the return address is `frame` bytes above the stack pointer. The code may be cut short. If its
 * offset is not 0, the caller must make sure that nothing jumps there or to one before it; if
 * something does, or if that is not known, `first` asks for the first one. False: no known
 * instruction. */
bool dt_insn_entry(const struct dt_insn_mode *k, const uint8_t *code, size_t n, bool first,
		   dt_insn *best);

/* The first instruction of the code, which is at vaddr, as an assembler writes it; *target: where a call or jump goes, 0: it
 * is none, or that is computed. False: it is not known. */
bool dt_insn_print(const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr, dt_buf *out, uint64_t *target);
/* A function that only returns a member of the struct that its argument points to: where in it that is. It may check first
 * what kind of struct it is, by its first member. */
bool dt_insn_member(const uint8_t *code, size_t n, uint32_t *offset);
/* Bytes that suffice for any instruction. */
#define DT_INSN_MAX 16

/* For the folders of CPUs: the choice above, of instructions that are offered in order. False: it is made. */
struct dt_insn_choice {
	dt_insn *best;
	bool first; /* as above */
	bool found;
};
bool dt_insn_offer(struct dt_insn_choice *c, const dt_insn *x);

/* What the folder of a CPU provides: the functions above, and answers about single instructions. */
struct dt_patch;
struct dt_arch_code {
	void (*kernel)(struct dt_insn_mode *k);
	void (*decode)(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr);
	void (*targets)(dt_jump_targets *to, const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr);
	bool (*entry)(const struct dt_insn_mode *k, const uint8_t *code, size_t n, bool first, dt_insn *best);
	bool (*print)(const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr, dt_buf *out,
		      uint64_t *target);
	bool (*member)(const uint8_t *code, size_t n, uint32_t *offset);
	const char *(*patch)(struct dt_patch *p); /* patch.h */
	const char *(*sample)(struct dt_patch *p);
	/* kernel code: kprobes are never possible there (apart from the kernel's own patching) */
	bool (*kprobe_refuses)(const uint8_t *code, uint32_t offset, uint8_t length);
	bool refuses_fixups; /* nor where the kernel expects a fault and continues elsewhere */
	/* an instruction that only fills the space between two functions */
	bool (*is_padding)(const uint8_t *at, uint8_t length);
	/* of a function of the kernel up to the next one: bytes at its end that are data of the next one; NULL: there are none */
	size_t (*kernel_tail)(const uint8_t *code, size_t n);
	/* may the kernel have put this there for a uprobe, in place of the instruction? */
	bool (*is_uprobe)(const uint8_t *was, const uint8_t *now, uint8_t length);
	/* an instruction that a function runs once, when it is entered: it saves a register, or makes space on the stack */
	bool (*makes_frame)(const uint8_t *at, uint8_t length);
	/* an instruction, at vaddr, that has the address of something between these two */
	bool (*refers)(const uint8_t *at, uint8_t length, uint64_t vaddr, uint64_t start, uint64_t end);
	/* an instruction that sets the register with the number of a system call: the number; UINT32_MAX: it does not */
	uint32_t (*call_number)(const uint8_t *at, uint8_t length);
	/* a stub of a procedure linkage table, of n bytes at vaddr: the address of the slot that it jumps through */
	bool (*plt_slot)(const uint8_t *p, size_t n, uint64_t vaddr, uint64_t *slot);
	uint8_t stub_step, stub_size; /* where stubs may begin, and their bytes; 0: both as the section says */
	uint32_t slot_relocation[2]; /* R_*: types of relocations that fill such slots */
};

#endif
