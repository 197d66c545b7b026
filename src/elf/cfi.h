/*
 * cfi: how to get from a frame of a user stack to the one above it, for every instruction of an
 * object.
 *
 * Compilers describe that in .eh_frame as programs for a small machine. A table is the result of
 * these programs: sorted rows, each valid from its address up to that of the next. Tables are made
 * for the kernel (src/bpf/translate/unwind.c), which walks stacks with them while a probe fires; so
 * a row is small, and contains only what is needed to find the next row: where the caller's frame
 * is (its CFA: the stack pointer after the return), and where the caller's values of two registers
 * are: the frame pointer (FP) and the register that compilers may use instead (BASE).
 * dt_arch.unwind says which ones, and where the return address is.
 *
 *	SP, FP, BASE + n nearly all code: CFA is a register and an offset
 *	REG + n		assembler in leaf functions: any register, known in the innermost frame
 *	*(SP + n) + m	functions that align their stack; also with FP
 *	PLT		entries of a procedure linkage table: a word more after the push
 *	SIGNAL		what a signal handler returns to: registers are in its frame
 *	END		the first function of a thread or a program: it has no caller
 *	STOP		described, but in a way that does not occur in compiled code
 *	NONE		not described: code from assembler files, or not code
 *
 * Addresses are offsets in the file, which is what the kernel knows of a mapping without help.
 */
#ifndef DT_ELF_CFI_H
#define DT_ELF_CFI_H

#include "arch/arch.h"
#include "elf/elf.h"

enum dt_unwind_kind {
	DT_UW_NONE,
	DT_UW_SP,
	DT_UW_FP,
	DT_UW_BASE,
	DT_UW_REG,
	DT_UW_SP_DEREF,
	DT_UW_FP_DEREF,
	DT_UW_PLT,
	DT_UW_SIGNAL,
	DT_UW_END,
	DT_UW_STOP,
};

typedef struct dt_unwind_row {
	uint32_t pc; /* offset in the file */
	/* Bits 0-3 the kind; above them, signed:
	 *	SP FP BASE	what to add
	 *	REG		bits 4-8 which, an index into struct pt_regs; above, what to add
	 *	DEREF		bits 4-15 what to add in the end; above, what to add first
	 *	PLT		from this byte of a 16-byte entry on there is one word more
	 *	SIGNAL		what to add to the stack pointer to get to the first of the saved
	 *			registers */
	uint32_t cfa;
	/* Where the caller's are: CFA + 8 * n, or one of DT_UW_SAME ...; base is the return address if that is in a
	 * register (dt_arch.unwind) */
	int16_t fp, base;
} dt_unwind_row;

#define DT_UW_SAME  0		    /* still in the register */
#define DT_UW_LOST  INT16_MIN	    /* not known */
#define DT_UW_AT_FP (INT16_MIN + 1) /* fp: at *fp */

#define DT_UW_KIND(cfa)	     ((enum dt_unwind_kind)((cfa)&15))
#define DT_UW_VALUE(cfa)     ((int32_t)(cfa) >> 4)
#define DT_UW_REG_OF(cfa)    ((cfa) >> 4 & 31)
#define DT_UW_REG_VALUE(cfa) ((int32_t)(cfa) >> 9)
#define DT_UW_ADD(cfa)	     ((cfa) >> 4 & 0xfff)
#define DT_UW_DEREF(cfa)     ((int32_t)(cfa) >> 16)

typedef struct dt_unwind {
	dt_unwind_row *rows; /* by pc, all different; no two neighbours are equal */
	uint32_t n;	     /* 0: no information in the object; else the last one is NONE */
} dt_unwind;

/* The table of a 64-bit object. It has no rows when the object has no .eh_frame, or is for
 * an unknown CPU. */
void dt_unwind_read(dt_elf *e, dt_unwind *u);
void dt_unwind_free(dt_unwind *u);

/* The pieces of code that .eh_frame describes, one by one: functions, also those without a symbol. Objects of any CPU. */
struct dt_cfi_walk {
	const uint8_t *data;
	uint64_t size, vaddr, at;
	uint32_t word;
	const uint64_t *ranges; /* pairs, of an object that a helper reads */
	uint32_t nranges;
};
void dt_cfi_walk(dt_elf *e, struct dt_cfi_walk *w);
bool dt_cfi_next(struct dt_cfi_walk *w, uint64_t *start, uint64_t *end); /* vaddrs; false: no more */

/* ---- for dt_unwind_read() and tests ---- */
struct dt_unwind_segment { /* executable code */
	uint64_t vaddr, size, offset;
};
/* The same from the bytes of .eh_frame, at `vaddr`; segments by vaddr. */
void dt_unwind_parse(const dt_arch *a, const void *data, uint64_t size, uint64_t vaddr,
		     const struct dt_unwind_segment *segs, uint32_t nsegs, dt_unwind *u);
/* The row for an offset in the file; NULL: before the first. */
const dt_unwind_row *dt_unwind_find(const dt_unwind *u, uint32_t pc);
void dt_unwind_print(const dt_unwind_row *r, dt_buf *out); /* "1a2f: sp+16 fp at cfa-16" */

#endif
