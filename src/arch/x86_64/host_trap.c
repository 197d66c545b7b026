/*
 * trap for x86-64: by a debug register. Without one by int3, which is one byte, and past which the program counter is when it is
 * reported. The kernel takes an int3 where some tracer has a uprobe for its own, in any process that has uprobes: it would not be
 * reported then.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	*regs = (struct dt_trap_regs){.pc = r.rip, .sp = r.rsp, .arg0 = r.rdi, .thread = r.fs_base};
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

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0 || r.cs != CODE64 || restarts(&r))
		return -1;
	at = r.rsp - RED_ZONE - 8;
	if (at % 8 || ptrace(PTRACE_POKEDATA, tid, at, r.rip) < 0)
		return -1;
	r.rsp = at;
	r.rip = stub;
	r.orig_rax = (unsigned long)-1;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 ? -1 : 0;
}

bool dt_trap_interrupted(pid_t tid)
{
	struct user_regs_struct r;

	return ptrace(PTRACE_GETREGS, tid, 0, &r) == 0 && (long)r.orig_rax >= 0 && (long)r.rax == -EINTR && r.cs == CODE64;
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

/* Has it ended? The first thread of a process is not waited for before all others have been. */
static bool is_dead(pid_t tid)
{
	char path[64], text[512], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ')');
	return !at || !at[1] || at[2] == 'Z' || at[2] == 'X';
}

static pid_t wait_for(pid_t tid, int *status)
{
	for (uint32_t turn = 0;; turn++) {
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got > 0 || (got < 0 && errno != EINTR))
			return got;
		if (turn < 200) {
			sched_yield();
			continue;
		}
		if (is_dead(tid))
			return -1;
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	}
}

/* Let the thread go on until it stops in this way: `event` 0: by a trap. Other stops are passed over; a signal that comes then
 * cannot be blocked, and is passed on. */
static int go_on(pid_t tid, enum __ptrace_request how, int event)
{
	long signal = 0;
	int status;
	pid_t got;

	for (;;) {
		if (ptrace(how, tid, 0, signal) < 0)
			return -1;
		got = wait_for(tid, &status);
		if (got < 0 || !WIFSTOPPED(status))
			return -1;
		if (event ? status >> 16 == event : status >> 8 == SIGTRAP)
			return 0;
		signal = status >> 16 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
}

/* From a stop by a trap to one where the thread just goes on if its tracer dies; from the former the trap would kill it. */
static int settle(pid_t tid)
{
	return ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ? -1 : go_on(tid, PTRACE_CONT, PTRACE_EVENT_STOP);
}

/* If the thread was in a system call that is to be restarted, orig_rax says so: with -1 the kernel leaves the registers alone
 * now, and restarts it when they are back. */
long dt_trap_call(pid_t tid, uint64_t at, long number, const uint64_t args[6])
{
	struct user_regs_struct was, r;
	uint64_t all = ~(1ull << (SIGTRAP - 1)), mask; /* if that were blocked, the kernel would reset its handler */
	int rc;

	if (ptrace(PTRACE_GETREGS, tid, 0, &was) < 0 || ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0)
		return -ESRCH;
	r = was;
	r.rip = at;
	r.orig_rax = (unsigned long)-1;
	r.rax = (unsigned long)number;
	r.rdi = args[0];
	r.rsi = args[1];
	r.rdx = args[2];
	r.r10 = args[3];
	r.r8 = args[4];
	r.r9 = args[5];
	rc = ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 || go_on(tid, PTRACE_SINGLESTEP, 0) < 0 ||
	     ptrace(PTRACE_GETREGS, tid, 0, &r) < 0;
	ptrace(PTRACE_SETREGS, tid, 0, &was);
	rc = settle(tid) < 0 || rc;
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	return rc ? -ESRCH : (long)r.rax;
}
