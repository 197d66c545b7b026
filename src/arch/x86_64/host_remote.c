/*
 * remote for x86-64: the thread's own registers are on its stack, just below the red zone, and the code takes them from there.
 * A system call does not change vector registers. One that was interrupted and is to be restarted is restarted by the code as
 * the kernel would: the kernel's notes about it stay, since no signal handler has returned.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/remote.h"

/* clang-format off */
const uint8_t dt_remote_code[DT_REMOTE_CODE] = {
    0x0f, 0x05,					/* syscall */
    0xb8, 14, 0, 0, 0,				/* mov $14 (rt_sigprocmask), %eax */
    0xbf, 2, 0, 0, 0,				/* mov $2 (SIG_SETMASK), %edi */
    0x48, 0x89, 0xe6,				/* mov %rsp, %rsi: struct frame */
    0x31, 0xd2,					/* xor %edx, %edx */
    0x41, 0xba, 8, 0, 0, 0,			/* mov $8, %r10d */
    0x0f, 0x05,					/* syscall */
    0x58,					/* pop %rax: the mask */
    0x58, 0x5b, 0x59, 0x5a, 0x5e, 0x5f, 0x5d,	/* pop %rax, rbx, rcx, rdx, rsi, rdi, rbp */
    0x41, 0x58, 0x41, 0x59, 0x41, 0x5a, 0x41, 0x5b, 0x41, 0x5c, 0x41, 0x5d, 0x41, 0x5e, 0x41, 0x5f, /* pop %r8 to r15 */
    0x9d,					/* popf */
    0xc2, 0x80, 0x00,				/* ret $RED_ZONE */
};
/* clang-format on */

#define RED_ZONE       128
#define SYSCALL_LENGTH 2
#define SYSCALL_STOP   (SIGTRAP | 0x80)

/* What the kernel returns in a system call that it will restart; programs never see them. */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };

struct frame { /* as the code takes it */
	uint64_t mask, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15, flags, rip;
};

/* ---- stops ---- */

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

/* Let the thread go on until it stops at a system call, or by PTRACE_INTERRUPT. Other stops are passed over; a signal that comes
 * then cannot be blocked, and is passed on. */
static int go_on(pid_t tid, enum __ptrace_request how, int signal)
{
	int status;
	pid_t got;

	for (;;) {
		if (ptrace(how, tid, 0, (long)signal) < 0)
			return -1;
		got = wait_for(tid, &status);
		if (got < 0 || !WIFSTOPPED(status))
			return -1;
		if (how == PTRACE_SYSCALL ? status >> 8 == SYSCALL_STOP : status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		signal = status >> 16 || WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
	}
}

/* ---- the frame ---- */

static struct frame make_frame(const struct user_regs_struct *r, uint64_t mask)
{
	struct frame f = {.mask = mask, .rax = r->rax, .rbx = r->rbx, .rcx = r->rcx, .rdx = r->rdx, .rsi = r->rsi, .rdi = r->rdi,
			  .rbp = r->rbp, .r8 = r->r8, .r9 = r->r9, .r10 = r->r10, .r11 = r->r11, .r12 = r->r12, .r13 = r->r13,
			  .r14 = r->r14, .r15 = r->r15, .flags = r->eflags, .rip = r->rip};
	bool in_call = (long)r->orig_rax >= 0;

	switch (in_call ? -(long)r->rax : 0) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND: f.rax = r->orig_rax; break;
	case ERESTART_RESTARTBLOCK: f.rax = SYS_restart_syscall; break;
	default: return f;
	}
	f.rip -= SYSCALL_LENGTH;
	return f;
}

/* ---- the call ---- */

/* orig_rax -1: the kernel does not restart the system call that the thread may have been in; it does when the registers are back. */
static void set_call(struct user_regs_struct *r, const struct dt_remote *re, uint64_t sp, long number, const uint64_t args[6])
{
	r->rip = re->code;
	r->rsp = sp;
	r->orig_rax = (unsigned long)-1;
	r->rax = (unsigned long)number;
	r->rdi = args[0];
	r->rsi = args[1];
	r->rdx = args[2];
	r->r10 = args[3];
	r->r8 = args[4];
	r->r9 = args[5];
}

/* To the end of the system call, and to a stop as that at which we found the thread. */
static int run(pid_t tid, int signal)
{
	if (go_on(tid, PTRACE_SYSCALL, signal) < 0 || go_on(tid, PTRACE_SYSCALL, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0)
		return -1;
	return go_on(tid, PTRACE_CONT, 0);
}

/* Signals are blocked after the registers have changed, and let through before: the frame has the thread's own mask. */
long dt_remote_call(const struct dt_remote *re, pid_t tid, int signal, long number, const uint64_t args[6])
{
	struct user_regs_struct was, r;
	uint64_t all = ~0ull, mask, at;
	struct frame f, before;
	int rc;

	if (ptrace(PTRACE_GETREGS, tid, 0, &was) < 0 || ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0)
		return -ESRCH;
	f = make_frame(&was, mask);
	at = was.rsp - RED_ZONE - sizeof(f);
	if (pread(re->mem, &before, sizeof(before), (off_t)at) != sizeof(before) || pwrite(re->mem, &f, sizeof(f), (off_t)at) != sizeof(f))
		return -EFAULT;
	r = was;
	set_call(&r, re, at, number, args);
	rc = ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 || ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0 || run(tid, signal) < 0 ||
	     ptrace(PTRACE_GETREGS, tid, 0, &r) < 0;
	rc = ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0 || ptrace(PTRACE_SETREGS, tid, 0, &was) < 0 || rc;
	if (pwrite(re->mem, &before, sizeof(before), (off_t)at) != sizeof(before) || rc)
		return -ESRCH;
	return (long)r.rax;
}
