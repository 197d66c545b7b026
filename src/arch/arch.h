/*
 * arch: what differs by CPU. Everything else is written in terms of this header and its neighbours:
 *
 *   arch.h      registers, calls, unwinding, names: tables
 *   insn.h      machine code: where instructions begin, what can be probed
 *   abi.h       how parameters are passed to a function
 *   operand.h   arguments of static probes, as the assembler writes them
 *   syscalls.h  system calls and the types of their arguments
 *   patch.h     jumps to probes in a program
 *   native.h    machine code for what probes do there
 *   remote.h    system calls of another process (host only)
 *   trap.h      breakpoints in a stopped thread (host only)
 *   site.h      two probe sites of our own, to measure (host only)
 *   dtext.h     D text in the tables of stable providers (host only)
 *
 * A CPU is a folder with a const struct dt_arch. All CPUs are built on every host, so that each can be
 * tested everywhere; only ptrace and inline assembly need the CPU itself: files named host_*.c. Its D
 * libraries are in lib/<folder>. doc/porting.md says where each fact comes from.
 */
#ifndef DT_ARCH_H
#define DT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A word of the kernel's struct pt_regs. Registers are known by their index in it, which is also
 * the index in uregs[]; all words are 8 bytes.
 */
typedef struct dt_arch_reg {
	const char *name;	/* as in the CPU's regs.d, in lower case and without "r_" */
	int8_t dwarf;		/* its number in DWARF; -1: none */
	int8_t saved;		/* its word among those that a signal handler's frame saves; -1: not saved */
	const char *operand[5]; /* its names in the arguments of static probes, by width; ends with NULL */
	const char *high;	/* name of its bits 8 to 15; NULL: none */
} dt_arch_reg;

/* How functions are called. */
struct dt_arch_call {
	uint8_t nargs, arg[8]; /* registers of the first integer arguments */
	uint8_t stack_args;    /* at the entry, bytes from the stack pointer to the first of the others */
	uint8_t result;
	uint8_t ngo_args, go_arg[16]; /* the same for functions of Go */
	/* D text for argument n at the entry of a function of a 32-bit program, `frame` as in dt_insn; not longer
	 * than 79 characters */
	void (*compat_arg)(unsigned n, uint64_t frame, char *text, size_t size);
	/* D text that is not 0 if a conditional jump is taken (dt_insn.condition); the same limit */
	void (*condition)(uint16_t code, char *text, size_t size);
};

/* How a thread enters the kernel. */
struct dt_arch_entry {
	uint8_t arg[6], compat_arg[6]; /* registers with the arguments of a system call */
	uint8_t number, number_size;   /* word with the number of the call while it returns, and the bytes of it that are it */
	/* Is the current system call one of a 32-bit program? The bit in a 32-bit word of struct task_struct. */
	uint16_t compat_at;
	uint32_t stack_size; /* bytes of the kernel stack of a thread, at least: no two threads have addresses in so many */
	uint32_t compat_bit;
	uint32_t number_bit; /* a third binary interface: its calls have native numbers with this bit; 0: none */
	/* Was the thread in 64-bit code? A register, its bits that say so, and their value then. */
	uint8_t mode;
	uint32_t mode_mask, mode_native;
	bool (*runs_compat)(void); /* does the kernel run 32-bit programs? */
};

/* Returning from a function on behalf of a thread (dt_insn.pops), and when that must not be done. */
struct dt_arch_return {
	uint8_t flags; /* a register ... */
	uint32_t stepped; /* ... and the bits that say that a debugger executes single instructions */
	const char *features; /* member of struct task_struct; NULL: none ... */
	uint32_t shadowed; /* ... and its bit: the CPU has a second stack of return addresses */
	uint8_t address_bits; /* of user addresses */
};

/* Unwinding of user stacks (elf/cfi.h). Registers by DWARF's numbers. */
struct dt_arch_unwind {
	uint8_t sp, fp, base, ra; /* base: the register besides fp that compilers put a CFA into, or ra */
	int8_t ra_at;		  /* the return address is at CFA + this, in every frame; 0: it is in the register ra, which is base */
	int8_t fp_at;		  /* with a frame pointer: the caller's is at CFA + this, where fp points to */
	uint8_t nsaved;		  /* words that a signal handler's frame saves; the pc is among them */
	/* The expression for the CFA in a procedure linkage table. All of it is fixed except one
	 * literal: from that byte of an entry on, there is one more word on the stack. NULL:
	 * linkers do not emit this. */
	const uint8_t *plt;
	uint8_t plt_size, plt_literal;
	uint64_t address; /* bits of a return address that are one; 0: all */
	/* What a signal handler returns to, where that is not described, and where the saved registers are from the
	 * stack pointer; 0: it is described */
	uint64_t signal_code;
	uint16_t signal_at;
	/* First instructions of a function that is not described, while fp is still the caller's: its value where
	 * `mask` has bits, in so many bytes; ends with mask 0. And what may come before it, four bytes; ends with 0 */
	uint8_t entry_size;
	struct {
		uint32_t value, mask;
	} entry[3];
	uint32_t landing_pad[3];
};

/*
 * How the kernel finds memory: its page tables, and where it has all memory mapped contiguously
 * (its direct map). Every table is as large as a page and has entries of 8 bytes; an entry of 0 is
 * empty.
 */
struct dt_arch_paging {
	uint8_t page_bits;  /* a page has 1 << this many bytes */
	uint8_t level_bits; /* bits of an address that are the index in one table */
	uint8_t top[3];	    /* where those are for the first table: the possible values; ends with 0 */
	uint64_t mask, table; /* an entry leads to another table when (entry & mask) == table ... */
	uint64_t address;     /* ... whose physical address are these bits */
	uint64_t direct_align; /* of the start of the direct map */
	/* A page that a process may read, but that causes a fault which marks it as used: (entry & old_mask) == old; 0: there are none */
	uint64_t old_mask, old;
};

/* Static probes in headers made by dtrace -h. */
struct dt_arch_site {
	const char *condition; /* of the preprocessor: the compiler makes code for this CPU */
	const char *what;      /* what is at a site, for the comment in the header */
	const char *text;      /* what is assembled there */
	const uint8_t *bytes;  /* the same as bytes */
	uint8_t size;
	uint8_t call; /* offset of the nop that the kernel may turn into a call; 0: there is none */
};

struct dt_operand;    /* operand.h */
struct dt_arch_code;  /* insn.h */
struct dt_arch_abi;   /* abi.h */
struct dt_arch_calls; /* syscalls.h */
struct dt_native_ops; /* native.h */

typedef struct dt_arch {
	const char *folder;   /* "x86_64", also below lib/ */
	const char *programs; /* in messages: the CPUs its programs are for */
	const char *triplet;  /* directories of libraries are named after it */
	const char *macro;    /* DTrace's name for it, defined for the C preprocessor (-C) */
	uint16_t machine, compat_machine; /* EM_*: 64-bit and 32-bit programs; 0: it runs none of the latter */
	uint16_t va_list_size;
	bool unnamed_aligns; /* an unnamed bit-field aligns its struct like a named one */
	bool ordered_stores;  /* other CPUs see the stores of a CPU in program order */
	uint8_t code_align;   /* instructions begin at multiples of it */
	uint64_t kernel_text; /* the kernel's code and its modules are in the 2 GB from here; 0: differs from boot to boot */

	const dt_arch_reg *regs;
	uint32_t nregs;
	uint32_t nuregs;    /* of uregs[], which extends past pt_regs: registers that the kernel does not save there read as 0 */
	bool keeps_frames;  /* its kernel is built with frame pointers, and so without jumps in place of last calls (CONFIG_FRAME_POINTER) */
	uint8_t helper_frames; /* frames of a kernel stack that belong to the helper which reads it */
	uint32_t nclock_regs; /* of regs[]: those that the context of a clock event has */
	uint8_t pc, sp, fp; /* registers by role */
	struct dt_arch_call call;
	struct dt_arch_entry entry;
	struct dt_arch_return ret;
	struct dt_arch_unwind unwind;
	struct dt_arch_paging paging;
	struct dt_arch_site site;
	/* What the code of probes inside a process pushes (host_enter.S), after one word: for each register which word it is, from
	 * 1; 0: it is not saved. And bytes from there to where the stack pointer was. */
	uint8_t frame[21];
	uint16_t frame_size;
	uint16_t frame_pc; /* of a sample (dt_trap_divert): bytes from there to the program counter; its frame has one word more */
	/* Reads one operand at *p, which moves past it; false: invalid. */
	bool (*operand)(const char **p, struct dt_operand *o);
	const char *const *noreturn; /* functions of its kernel that never return; ends with NULL */

	const struct dt_arch_code *code;
	const struct dt_arch_abi *abi;
	const struct dt_arch_calls *calls;
	const struct dt_native_ops *native; /* NULL: there are none */
} dt_arch;

extern const dt_arch dt_arch_x86_64;
extern const dt_arch dt_arch_aarch64;

extern const dt_arch *const dt_arch_all[]; /* ends with NULL */
const dt_arch *dt_arch_host(void);
bool dt_arch_knows_pages(void); /* does `paging` describe the running kernel? Some have other sizes of pages */
const dt_arch *dt_arch_of(uint16_t machine); /* of 64-bit code by its EM_*; NULL: not known */

/* Where a register is in struct pt_regs. */
#define DT_REG_AT(reg) ((reg)*8)
#define DT_NO_REG      (-1)
/* A register by DWARF's number, by its place in a signal handler's frame, by a name in operands: its index in regs[]
 * or DT_NO_REG. *high: the name means its bits 8 to 15. */
int dt_arch_dwarf(const dt_arch *a, uint64_t number);
int dt_arch_saved(const dt_arch *a, uint32_t word);
int dt_arch_operand(const dt_arch *a, const char *name, size_t n, bool *high);

#endif
