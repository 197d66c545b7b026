/*
 * trap: breakpoints and registers of a thread that we have stopped (ptrace). A process runs to a
 * breakpoint only before tracing begins (proc/create.c). Host only: host_trap.c of each CPU.
 */
#ifndef DT_TRAP_H
#define DT_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct dt_trap {
	uint64_t addr;
	long saved;    /* the word that the breakpoint is in, as it was */
	bool hardware; /* it is in a register of the thread instead */
} dt_trap;

/* Words of memory: 0 or -1. */
int dt_trap_peek(pid_t tid, uint64_t addr, uint64_t *word);
/* Put a breakpoint at an address, and take it out again, also from a copy of the process. */
int dt_trap_insert(pid_t tid, uint64_t addr, dt_trap *trap);
int dt_trap_remove(pid_t tid, const dt_trap *trap);
/* After a SIGTRAP: was it this breakpoint? If so, the instruction there is made the next one. */
bool dt_trap_hit(pid_t tid, const dt_trap *trap);

struct dt_trap_regs {
	uint64_t pc, sp,
	    arg0; /* arg0: first argument of a function that was just called; 64-bit code */
	uint64_t thread; /* the thread pointer */
	bool narrow;	 /* it is in 32-bit code */
};
int dt_trap_regs(pid_t tid, struct dt_trap_regs *regs);
/* Between these two states of a thread, one step apart: did it call a function? */
bool dt_trap_called(pid_t tid, const struct dt_trap_regs *before, const struct dt_trap_regs *after);

int dt_trap_set_pc(pid_t tid, uint64_t pc);
/* Has the stopped thread a second stack, of return addresses, that the CPU compares? Then it returns only to where it was called. */
bool dt_trap_shadowed(pid_t tid);
/* Let the stopped thread run the stub of a sample (dt_patch_sample) first. -1: not now: it is in a system call that is to be
 * restarted, in 32-bit code, or has a shadow stack. If the tracer dies before or after this, the thread just goes on. */
int dt_trap_divert(pid_t tid, uint64_t stub);
/* Has a system call of the stopped thread, which only waits, just ended with EINTR? Let it make the call again. */
bool dt_trap_interrupted(pid_t tid);
int dt_trap_again(pid_t tid);
/* Where in n bytes of code a system call is made; n: nowhere. */
size_t dt_trap_find_call(const uint8_t *code, size_t n);
/* Is word i of a stack the pc of registers that the kernel saved for a signal handler? Sets pc and sp. */
bool dt_trap_saved(const uint64_t *stack, size_t n, size_t i, struct dt_trap_regs *regs);

#endif
