/*
 * syscalls: see syscalls.h.
 *
 * The CPU's own table gives numbers and names; syscall_args.def gives the argument types by name,
 * which are the same everywhere. For 32-bit programs there is a second table, and the same types
 * become those of a 32-bit compiler; calls that differ further are in a table of the CPU.
 */
#include <string.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "base/base.h"

#include "arch/syscall_types.h"

static const dt_syscall_types all_types[] = {
#include "arch/syscall_args.def"
};

const struct dt_arch_calls *dt_syscalls(void)
{
	return dt_arch_host()->calls;
}

bool dt_has_compat_syscalls(void)
{
	return dt_syscalls()->ncompat != 0 && dt_arch_host()->entry.runs_compat();
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

static const dt_syscall_types *find_types(const dt_syscall_types *known, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

int dt_syscall_args(const dt_syscall *call, const char **types)
{
	static const char *const words[][2] = {
#define WORD(name, in64, in32) {in64, in32},
	    DT_SYSCALL_WORDS(WORD)
#undef WORD
	};
	const struct dt_arch_calls *own = dt_syscalls();
	bool compat = call->nr >= DT_SYSCALL_COMPAT;
	const dt_syscall_types *known = NULL;
	int n = 0;

	if (compat)
		known = find_types(own->compat_types, own->ncompat_types, call->name);
	if (!known)
		known = find_types(all_types, DT_NELEM(all_types), call->name);
	if (!known)
		return -1;
	for (; n < DT_SYSCALL_MAXARGS && known->words[n] != NOARGS; n++)
		types[n] = words[known->words[n]][compat];
	return n;
}
