/*
 * remote: system calls that a stopped thread of another process makes for us (ptrace). Host only: host_remote.c of each CPU.
 *
 * The thread depends on nobody from the moment its registers are changed: those that it had, and its signal mask, are on its
 * stack. The code that it runs makes the system call, and then takes them from there. We stop it in between, and put back what
 * was there. If we die at any moment, it runs to the end and continues where it was. The only stops used are those at which a
 * thread simply continues when its tracer dies: of system calls (PTRACE_O_TRACESYSGOOD must be set), and of PTRACE_INTERRUPT.
 */
#ifndef DT_ARCH_REMOTE_H
#define DT_ARCH_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DT_REMOTE_CODE 56 /* bytes of the code */
extern const uint8_t dt_remote_code[DT_REMOTE_CODE];

struct dt_remote {
	int mem;       /* /proc/PID/mem, to read and write */
	uint64_t code; /* where the code is in the process */
};

/* What the kernel returned; -ESRCH if the thread has died, -EFAULT if it has no stack. It is as before afterwards. Signals wait
 * meanwhile, also the one that it was about to get (0: none), which the kernel delivers when the thread goes on. */
long dt_remote_call(const struct dt_remote *r, pid_t tid, int signal, long number, const uint64_t args[6]);

#endif
