/*
 * syscalls for x86-64, and i386 in 32-bit programs: the tables of this folder.
 */
#include "arch/syscall_types.h"
#include "arch/x86_64/x86_64.h"
#include "base/base.h"

static const dt_syscall calls[] = {
#define DT_SYSCALL(nr, name) {nr, #name},
#include "arch/x86_64/syscalls.def"
#undef DT_SYSCALL
};

static const dt_syscall compat_calls[] = {
#define DT_SYSCALL(nr, name) {DT_SYSCALL_COMPAT + nr, #name},
#include "arch/x86_64/syscalls32.def"
#undef DT_SYSCALL
};

static const dt_syscall_types compat_types[] = {
#include "arch/x86_64/syscall32_args.def"
};

const struct dt_arch_calls dt_x86_64_calls = {
    .v = calls,
    .n = DT_NELEM(calls),
    .compat = compat_calls,
    .ncompat = DT_NELEM(compat_calls),
    .compat_types = compat_types,
    .ncompat_types = DT_NELEM(compat_types),
    .child_returns = true,
};
