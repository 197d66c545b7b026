/*
 * syscalls: see syscalls.h.
 *
 * The CPU's own table gives numbers and names; syscall_args.def gives the argument types by name,
 * which are the same everywhere. For 32-bit programs there is a second table, and the same types
 * become those of a 32-bit compiler; calls that differ further are in a table of the CPU.
 */
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "base/base.h"

#include "arch/syscall_types.h"
static const dt_syscall_types native_types[] = {
#include "arch/syscall_args.def"
};

#define DT_SYSCALL_TYPES_32
#include "arch/syscall_types.h"
static const dt_syscall_types compat_types[] = {
#include "arch/syscall_args.def"
};

const struct dt_arch_calls *dt_syscalls(void)
{
	return dt_arch_host()->calls;
}

bool dt_has_compat_syscalls(void)
{
	return dt_syscalls()->ncompat != 0 && access(dt_arch_host()->entry.compat_sign, F_OK) == 0;
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
	return by_name(dt_syscalls()->v, dt_syscalls()->n, name);
}

const dt_syscall *dt_compat_syscall_by_name(const char *name)
{
	return by_name(dt_syscalls()->compat, dt_syscalls()->ncompat, name);
}

const dt_syscall *dt_syscall_by_nr(uint32_t nr)
{
	bool compat = nr >= DT_SYSCALL_COMPAT;
	const dt_syscall *calls = compat ? dt_syscalls()->compat : dt_syscalls()->v;
	uint32_t n = compat ? dt_syscalls()->ncompat : dt_syscalls()->n;

	for (uint32_t i = 0; i < n; i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

static int find_types(const dt_syscall_types *known, size_t count, const char *name,
		      const char *const **types)
{
	for (size_t i = 0; i < count; i++) {
		int n = 0;

		if (strcmp(known[i].name, name) != 0)
			continue;
		while (known[i].types[n])
			n++;
		*types = known[i].types;
		return n;
	}
	return -1;
}

int dt_syscall_args(const dt_syscall *call, const char *const **types)
{
	const struct dt_arch_calls *own = dt_syscalls();
	int n;

	if (call->nr < DT_SYSCALL_COMPAT)
		return find_types(native_types, DT_NELEM(native_types), call->name, types);
	n = find_types(own->compat_types, own->ncompat_types, call->name, types);
	return n >= 0 ? n : find_types(compat_types, DT_NELEM(compat_types), call->name, types);
}
