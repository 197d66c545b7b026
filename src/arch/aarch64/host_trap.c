/*
 * trap for aarch64: brk is four bytes, and the program counter is still at it when it is reported. Not in 32-bit programs,
 * whose registers are another set.
 */
#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "arch/trap.h"

#define BRK 0xd4200000ull

enum { LR = 30 };

int dt_trap_peek(pid_t tid, uint64_t addr, uint64_t *word)
{
	errno = 0;
	*word = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, addr, 0);
	return errno ? -1 : 0;
}

/* The aligned word that holds the instruction. */
static uint64_t word_of(uint64_t addr)
{
	return addr & ~7ull;
}

static int get_regs(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = {.iov_base = r, .iov_len = sizeof(*r)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) < 0)
		return -1;
	if (v.iov_len == sizeof(*r))
		return 0;
	errno = EOPNOTSUPP;
	return -1;
}

int dt_trap_insert(pid_t tid, uint64_t addr, dt_trap *trap)
{
	unsigned shift = (unsigned)(addr & 4) * 8;
	struct user_regs_struct r;
	uint64_t word;

	if (get_regs(tid, &r) < 0 || dt_trap_peek(tid, word_of(addr), &word) < 0)
		return -1;
	*trap = (dt_trap){.addr = addr, .saved = (long)word};
	word = (word & ~(0xffffffffull << shift)) | BRK << shift;
	return ptrace(PTRACE_POKETEXT, tid, word_of(addr), word) < 0 ? -1 : 0;
}

int dt_trap_remove(pid_t tid, const dt_trap *trap)
{
	return ptrace(PTRACE_POKETEXT, tid, word_of(trap->addr), trap->saved) < 0 ? -1 : 0;
}

bool dt_trap_hit(pid_t tid, const dt_trap *trap)
{
	struct user_regs_struct r;

	return get_regs(tid, &r) == 0 && r.pc == trap->addr;
}

int dt_trap_regs(pid_t tid, struct dt_trap_regs *regs)
{
	struct user_regs_struct r;

	if (get_regs(tid, &r) < 0)
		return -1;
	*regs = (struct dt_trap_regs){.pc = r.pc, .sp = r.sp, .arg0 = r.regs[0]};
	return 0;
}

bool dt_trap_called(pid_t tid, const struct dt_trap_regs *before, const struct dt_trap_regs *after)
{
	struct user_regs_struct r;

	return get_regs(tid, &r) == 0 && r.regs[LR] == before->pc + 4 && after->pc != r.regs[LR];
}

/* The process engine is not available on this CPU. */
int dt_trap_set_pc(pid_t tid, uint64_t pc)
{
	(void)tid, (void)pc;
	return -1;
}

bool dt_trap_shadowed(pid_t tid)
{
	(void)tid;
	return false;
}

int dt_trap_divert(pid_t tid, uint64_t stub)
{
	(void)tid, (void)stub;
	return -1;
}

bool dt_trap_interrupted(pid_t tid)
{
	(void)tid;
	return false;
}

int dt_trap_again(pid_t tid)
{
	(void)tid;
	return -1;
}

size_t dt_trap_find_call(const uint8_t *code, size_t n)
{
	(void)code;
	return n;
}

bool dt_trap_saved(const uint64_t *stack, size_t n, size_t i, struct dt_trap_regs *regs)
{
	(void)stack, (void)n, (void)i, (void)regs;
	return false;
}
