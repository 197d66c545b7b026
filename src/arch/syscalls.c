/*
 * syscalls: the system calls of this CPU, and what their arguments are.
 *
 * The CPU's own table gives numbers and names; syscall_args.def gives the argument types by name,
 * which are the same everywhere. For 32-bit programs there is a second table, and the same types become those of a
 * 32-bit compiler; what differs more is in a table of the CPU.
 */
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/base.h"

#if defined(__x86_64__)
#define SYSCALLS	"arch/x86_64/syscalls.def"
#define COMPAT_SYSCALLS "arch/x86_64/syscalls32.def"
#define COMPAT_ARGS	"arch/x86_64/syscall32_args.def"
#define COMPAT_SIGN	"/proc/sys/abi/vsyscall32" /* there when the kernel has IA32 emulation */
#else
#error "no system call table for this CPU: add src/arch/<cpu>/syscalls.def"
#endif

/* The type words of syscall_args.def; those that depend on the size of a pointer are below. */
#define INT    "int"
#define UINT   "unsigned int"
#define U64    "uint64_t"
#define PID    "pid_t"
#define ID     "unsigned int"
#define MODE   "unsigned int"
#define STR    "userland const char *"
#define CHARP  "userland char *"
#define INTP   "userland int *"
#define PTR    "userland void *"
#define NOARGS NULL

struct args {
	const char *name;
	const char *types[DT_SYSCALL_MAXARGS + 1]; /* ends with NULL */
};
#define DT_SYSCALL_ARGS(name, ...) {#name, {__VA_ARGS__}},

#define LONG  "long"
#define ULONG "unsigned long"
#define SIZE  "size_t"
#define OFF   "int64_t"
#define STRV  "userland const char **"
static const struct args known_args[] = {
#include "arch/syscall_args.def"
};
#undef LONG
#undef ULONG
#undef SIZE
#undef OFF
#undef STRV

#define LONG  "int"
#define ULONG "unsigned int"
#define SIZE  "unsigned int"
#define OFF   "int"
#define STRV  "userland uint32_t *" /* an array of 32-bit addresses */
static const struct args compat_args[] = {
#include COMPAT_ARGS
/* what is not above is as usual */
#include "arch/syscall_args.def"
};

const dt_syscall dt_syscalls[] = {
#define DT_SYSCALL(nr, name) {nr, #name},
#include SYSCALLS
#undef DT_SYSCALL
};
const uint32_t dt_nsyscalls = DT_NELEM(dt_syscalls);

const dt_syscall dt_compat_syscalls[] = {
#define DT_SYSCALL(nr, name) {DT_SYSCALL_COMPAT + nr, #name},
#include COMPAT_SYSCALLS
#undef DT_SYSCALL
};
const uint32_t dt_ncompat_syscalls = DT_NELEM(dt_compat_syscalls);

bool dt_has_compat_syscalls(void)
{
	return access(COMPAT_SIGN, F_OK) == 0;
}

static const dt_syscall *by_name(const dt_syscall *calls, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

const dt_syscall *dt_syscall_by_name(const char *name)
{
	return by_name(dt_syscalls, dt_nsyscalls, name);
}

const dt_syscall *dt_compat_syscall_by_name(const char *name)
{
	return by_name(dt_compat_syscalls, dt_ncompat_syscalls, name);
}

const dt_syscall *dt_syscall_by_nr(uint32_t nr)
{
	bool compat = nr >= DT_SYSCALL_COMPAT;
	const dt_syscall *calls = compat ? dt_compat_syscalls : dt_syscalls;
	uint32_t n = compat ? dt_ncompat_syscalls : dt_nsyscalls;

	for (uint32_t i = 0; i < n; i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

int dt_syscall_args(const dt_syscall *call, const char *const **types)
{
	bool compat = call->nr >= DT_SYSCALL_COMPAT;
	const struct args *known = compat ? compat_args : known_args;
	size_t count = compat ? DT_NELEM(compat_args) : DT_NELEM(known_args);

	for (size_t i = 0; i < count; i++) {
		int n = 0;

		if (strcmp(known[i].name, call->name) != 0)
			continue;
		while (known[i].types[n])
			n++;
		*types = known[i].types;
		return n;
	}
	return -1;
}
