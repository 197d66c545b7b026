/*
 * trap for x86-64: int3 is one byte, and the program counter is past it when it is reported.
 */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/trap.h"

#define INT3	     0xcc
#define LONGEST_CALL 15 /* no instruction is longer */

int dt_trap_peek(pid_t tid, uint64_t addr, uint64_t *word)
{
	errno = 0;
	*word = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, addr, 0);
	return errno ? -1 : 0;
}

/* The aligned word that holds the address: it cannot reach into the next page. */
static uint64_t word_of(uint64_t addr)
{
	return addr & ~7ull;
}

int dt_trap_insert(pid_t tid, uint64_t addr, dt_trap *trap)
{
	unsigned shift = (unsigned)(addr & 7) * 8;
	uint64_t word;

	if (dt_trap_peek(tid, word_of(addr), &word) < 0)
		return -1;
	*trap = (dt_trap){.addr = addr, .saved = (long)word};
	word = (word & ~(0xffull << shift)) | (uint64_t)INT3 << shift;
	return ptrace(PTRACE_POKETEXT, tid, word_of(addr), word) < 0 ? -1 : 0;
}

int dt_trap_remove(pid_t tid, const dt_trap *trap)
{
	return ptrace(PTRACE_POKETEXT, tid, word_of(trap->addr), trap->saved) < 0 ? -1 : 0;
}

bool dt_trap_hit(pid_t tid, const dt_trap *trap)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0 || r.rip != trap->addr + 1)
		return false;
	r.rip--;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) == 0;
}

int dt_trap_regs(pid_t tid, struct dt_trap_regs *regs)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
		return -1;
	*regs = (struct dt_trap_regs){.pc = r.rip, .sp = r.rsp, .arg0 = r.rdi};
	return 0;
}

bool dt_trap_called(pid_t tid, const struct dt_trap_regs *before, const struct dt_trap_regs *after)
{
	uint64_t back;

	return after->sp == before->sp - 8 && dt_trap_peek(tid, after->sp, &back) == 0 &&
	       back - before->pc <= LONGEST_CALL && back != after->pc;
}
