/*
 * trap for x86-64: by a debug register. Without one by int3, which is one byte, and past which the program counter is when it is
 * reported. The kernel takes an int3 where some tracer has a uprobe for its own, in any process that has uprobes: it would not be
 * reported then.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "arch/trap.h"

#define INT3	     0xcc
#define USER_CS	     0x33
#define FLAG_ALWAYS  2
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

static size_t debug_register(int n)
{
	return offsetof(struct user, u_debugreg) + (size_t)n * sizeof(long);
}

/* The address in the first register; in the control register, that an instruction is meant. */
static bool set_debug(pid_t tid, uint64_t addr, bool on)
{
	return ptrace(PTRACE_POKEUSER, tid, debug_register(7), 0) == 0 &&
	       (!on || (ptrace(PTRACE_POKEUSER, tid, debug_register(0), addr) == 0 &&
			ptrace(PTRACE_POKEUSER, tid, debug_register(7), 1) == 0));
}

int dt_trap_insert(pid_t tid, uint64_t addr, dt_trap *trap)
{
	unsigned shift = (unsigned)(addr & 7) * 8;
	uint64_t word;

	if (dt_trap_peek(tid, word_of(addr), &word) < 0)
		return -1;
	*trap = (dt_trap){.addr = addr, .saved = (long)word, .hardware = set_debug(tid, addr, true)};
	if (trap->hardware)
		return 0;
	word = (word & ~(0xffull << shift)) | (uint64_t)INT3 << shift;
	return ptrace(PTRACE_POKETEXT, tid, word_of(addr), word) < 0 ? -1 : 0;
}

int dt_trap_remove(pid_t tid, const dt_trap *trap)
{
	if (trap->hardware)
		return set_debug(tid, trap->addr, false) ? 0 : -1;
	return ptrace(PTRACE_POKETEXT, tid, word_of(trap->addr), trap->saved) < 0 ? -1 : 0;
}

bool dt_trap_hit(pid_t tid, const dt_trap *trap)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
		return false;
	if (trap->hardware)
		return r.rip == trap->addr && ptrace(PTRACE_PEEKUSER, tid, debug_register(6), 0) & 1;
	if (r.rip != trap->addr + 1)
		return false;
	r.rip--;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) == 0;
}

int dt_trap_regs(pid_t tid, struct dt_trap_regs *regs)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
		return -1;
	*regs = (struct dt_trap_regs){.pc = r.rip, .sp = r.rsp, .arg0 = r.rdi, .thread = r.fs_base, .narrow = r.cs != USER_CS};
	return 0;
}

bool dt_trap_called(pid_t tid, const struct dt_trap_regs *before, const struct dt_trap_regs *after)
{
	uint64_t back;

	return after->sp == before->sp - 8 && dt_trap_peek(tid, after->sp, &back) == 0 &&
	       back - before->pc <= LONGEST_CALL && back != after->pc;
}

int dt_trap_set_pc(pid_t tid, uint64_t pc)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
		return -1;
	r.rip = pc;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 ? -1 : 0;
}

#ifndef NT_X86_SHSTK
#define NT_X86_SHSTK 0x204
#endif

/* The kernel has these registers only for threads that use them. */
bool dt_trap_shadowed(pid_t tid)
{
	uint64_t pointer = 0;
	struct iovec v = {.iov_base = &pointer, .iov_len = sizeof(pointer)};

	return ptrace(PTRACE_GETREGSET, tid, NT_X86_SHSTK, &v) == 0;
}

#define CODE64	 0x33 /* the code segment of 64-bit programs */
#define RED_ZONE 128

/* -ERESTARTSYS, -ERESTARTNOINTR, -ERESTARTNOHAND, -ERESTART_RESTARTBLOCK: the kernel will change the registers again. */
static bool restarts(const struct user_regs_struct *r)
{
	long result = (long)r->rax;

	return (long)r->orig_rax >= 0 && (result == -512 || result == -513 || result == -514 || result == -516);
}

/* What is written to the stack is below all that the thread may use: it counts only when the registers are set, at once. */
int dt_trap_divert(pid_t tid, uint64_t stub)
{
	struct user_regs_struct r;
	uint64_t at;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0 || r.cs != CODE64 || restarts(&r) || dt_trap_shadowed(tid))
		return -1;
	at = r.rsp - RED_ZONE - 8;
	if (at % 8 || ptrace(PTRACE_POKEDATA, tid, at, r.rip) < 0)
		return -1;
	r.rsp = at;
	r.rip = stub;
	r.orig_rax = (unsigned long)-1;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 ? -1 : 0;
}

/* Calls that only wait. Others have done something by then: close() has closed the file. */
static bool only_waits(long number)
{
	switch (number) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop: return true;
	default: return false;
	}
}

bool dt_trap_interrupted(pid_t tid)
{
	struct user_regs_struct r;

	return ptrace(PTRACE_GETREGS, tid, 0, &r) == 0 && (long)r.rax == -EINTR && r.cs == CODE64 && only_waits((long)r.orig_rax);
}

int dt_trap_again(pid_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
		return -1;
	r.rip -= 2; /* the instruction */
	r.rax = r.orig_rax;
	r.orig_rax = (unsigned long)-1;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 ? -1 : 0;
}

size_t dt_trap_find_call(const uint8_t *code, size_t n)
{
	const uint8_t *p = memmem(code, n, "\x0f\x05", 2);

	return p ? (size_t)(p - code) : n;
}

/* struct sigcontext: ... sp, ip, flags, cs and others in one word. */
bool dt_trap_saved(const uint64_t *stack, size_t n, size_t i, struct dt_trap_regs *regs)
{
	if (i < 1 || i + 2 >= n || (stack[i + 2] & 0xffff) != USER_CS || stack[i + 1] >> 22 || !(stack[i + 1] & FLAG_ALWAYS))
		return false;
	*regs = (struct dt_trap_regs){.pc = stack[i], .sp = stack[i - 1]};
	return true;
}
