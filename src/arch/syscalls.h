/*
 * syscalls: the system calls of this CPU by number, and what their arguments are.
 */
#ifndef DT_ARCH_SYSCALLS_H
#define DT_ARCH_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#define DT_SYSCALL_MAXARGS 6

typedef struct dt_syscall {
	uint32_t nr;
	const char *name;
} dt_syscall;

/*
 * A CPU may run programs of a second binary interface: 32-bit ones. Their system calls have their
 * own numbers, which here start at DT_SYSCALL_COMPAT, and other argument types.
 */
#define DT_SYSCALL_COMPAT 1024

/* Types of the arguments of one call: words of syscall_types.h. */
typedef struct dt_syscall_types {
	const char *name;
	uint8_t words[DT_SYSCALL_MAXARGS]; /* ends with NOARGS, which is 0 */
} dt_syscall_types;

/* The tables of a CPU, in order of number. */
struct dt_arch_calls {
	const dt_syscall *v;
	uint32_t n;
	const dt_syscall *compat; /* 32-bit programs; NULL: it runs none */
	uint32_t ncompat;
	const dt_syscall_types *compat_types; /* their calls whose types are not those of syscall_args.def */
	uint32_t ncompat_types;
	bool child_returns; /* the kernel reports the return of clone() in the new thread as well */
};

/* The rest is about the host. */
const struct dt_arch_calls *dt_syscalls(void);
bool dt_has_compat_syscalls(void);				/* does this kernel run such programs? */
const dt_syscall *dt_syscall_by_name(const char *name);		/* NULL: none */
const dt_syscall *dt_compat_syscall_by_name(const char *name);	/* the same, of 32-bit programs */
const dt_syscall *dt_syscall_by_nr(uint32_t nr);		/* of either */
/* Types of the arguments as D text, DT_SYSCALL_MAXARGS at most; returns their number, -1 if not known. */
int dt_syscall_args(const dt_syscall *call, const char **types);

#endif
