/*
 * syscalls: the system calls of this CPU, and what their arguments are.
 *
 * The CPU's own table gives numbers and names; syscall_args.def gives the argument types by name,
 * which are the same everywhere.
 */
#include <string.h>

#include "arch/arch.h"
#include "base/base.h"

#if defined(__x86_64__)
#define SYSCALLS "arch/x86_64/syscalls.def"
#else
#error "no system call table for this CPU: add src/arch/<cpu>/syscalls.def"
#endif

/* The type words of syscall_args.def. */
#define INT    "int"
#define UINT   "unsigned int"
#define LONG   "long"
#define ULONG  "unsigned long"
#define U64    "uint64_t"
#define SIZE   "size_t"
#define OFF    "int64_t"
#define PID    "pid_t"
#define ID     "unsigned int"
#define MODE   "unsigned int"
#define STR    "userland const char *"
#define CHARP  "userland char *"
#define STRV   "userland const char **"
#define INTP   "userland int *"
#define PTR    "userland void *"
#define NOARGS NULL

struct args {
	const char *name;
	const char *types[DT_SYSCALL_MAXARGS + 1]; /* ends with NULL */
};

static const struct args known_args[] = {
#define DT_SYSCALL_ARGS(name, ...) {#name, {__VA_ARGS__}},
#include "arch/syscall_args.def"
#undef DT_SYSCALL_ARGS
};

const dt_syscall dt_syscalls[] = {
#define DT_SYSCALL(nr, name) {nr, #name},
#include SYSCALLS
#undef DT_SYSCALL
};
const uint32_t dt_nsyscalls = DT_NELEM(dt_syscalls);

const dt_syscall *dt_syscall_by_name(const char *name)
{
	for (uint32_t i = 0; i < dt_nsyscalls; i++)
		if (strcmp(dt_syscalls[i].name, name) == 0)
			return &dt_syscalls[i];
	return NULL;
}

const dt_syscall *dt_syscall_by_nr(uint32_t nr)
{
	for (uint32_t i = 0; i < dt_nsyscalls; i++)
		if (dt_syscalls[i].nr == nr)
			return &dt_syscalls[i];
	return NULL;
}

int dt_syscall_args(const dt_syscall *call, const char *const **types)
{
	for (size_t i = 0; i < DT_NELEM(known_args); i++) {
		int n = 0;

		if (strcmp(known_args[i].name, call->name) != 0)
			continue;
		while (known_args[i].types[n])
			n++;
		*types = known_args[i].types;
		return n;
	}
	return -1;
}
