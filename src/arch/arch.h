/*
 * arch: what differs by CPU, and what belongs to the kernel's binary interface.
 *
 * One folder per CPU holds its tables; this header is how the rest sees them. For now: system
 * calls, by number, with the types of their arguments.
 */
#ifndef DT_ARCH_H
#define DT_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define DT_SYSCALL_MAXARGS 6

typedef struct dt_syscall {
	uint32_t nr;
	const char *name;
} dt_syscall;

/*
 * A CPU may run programs of a second binary interface: 32-bit ones. Their system calls have numbers of their
 * own, which are counted from DT_SYSCALL_COMPAT here, and other argument types.
 */
#define DT_SYSCALL_COMPAT 1024

extern const dt_syscall dt_syscalls[], dt_compat_syscalls[]; /* in order of number */
extern const uint32_t dt_nsyscalls, dt_ncompat_syscalls;

bool dt_has_compat_syscalls(void);				/* does this kernel run such programs? */
const dt_syscall *dt_syscall_by_name(const char *name);		/* NULL: none */
const dt_syscall *dt_compat_syscall_by_name(const char *name);	/* the same, of 32-bit programs */
const dt_syscall *dt_syscall_by_nr(uint32_t nr);		/* of either */
/* Types of the arguments as D text; returns how many, -1 when not known. */
int dt_syscall_args(const dt_syscall *call, const char *const **types);

#endif
