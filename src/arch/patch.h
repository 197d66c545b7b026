/*
 * patch: replaces a few instructions of a program by a jump to a stub, which has copies of them and the call of a probe.
 *
 *	program:  jump to the stub				stub:  copies of those before the probe
 *									step over the red zone; call the runtime with the site
 *									copies of the others
 *									jump behind the instructions
 */
#ifndef DT_ARCH_PATCH_H
#define DT_ARCH_PATCH_H

#include "base/base.h"

#define DT_PATCH_MAX  24  /* bytes that are replaced */
#define DT_PATCH_JUMP 5	  /* bytes of the jump: there must be as many */
#define DT_STUB_MAX   256 /* bytes of a stub */
#define DT_TRAP_BYTE  0xcc /* what a breakpoint begins with */

typedef struct dt_patch {
	uint64_t at;		     /* the first of the instructions */
	uint32_t size;		     /* their bytes */
	uint32_t probe;		     /* the probe fires before the instruction at this offset; it may be the one behind them */
	uint8_t was[DT_PATCH_MAX];   /* they */
	uint64_t stub;		     /* where the stub will be */
	uint64_t site;		     /* what the runtime gets */
	bool calls;		     /* the instruction at `probe` makes a system call, which is moved as well ... */
	uint64_t after;		     /* ... and what the runtime gets after it; 0: it does not run then */
	uint64_t entry;		     /* where the address of the runtime's entry will be, near the stub */
	/* made: */
	uint8_t is[DT_PATCH_MAX];
	uint8_t code[DT_STUB_MAX];
	uint32_t code_size;
	struct {
		uint8_t from, to; /* offsets of an instruction, and of its copy in the stub */
	} moved[DT_PATCH_MAX + 1]; /* also what is behind a system call that is the last */
	uint32_t nmoved;
} dt_patch;

/* NULL, or why it is not possible: a few words. */
const char *dt_patch_make(dt_patch *p);
/* A stub that a stopped thread is sent to (dt_trap_divert): it calls the runtime with the site, and goes back to where the
 * thread was. Only the code is made. */
const char *dt_patch_sample(dt_patch *p);

#endif
