/*
 * syscalls for aarch64, and arm in 32-bit programs: the tables of this folder.
 */
#include "arch/aarch64/aarch64.h"
#include "base/base.h"

static const dt_syscall calls[] = {
#define DT_SYSCALL(nr, name) {nr, #name},
#include "arch/aarch64/syscalls.def"
#undef DT_SYSCALL
};

static const dt_syscall compat_calls[] = {
#define DT_SYSCALL(nr, name) {DT_SYSCALL_COMPAT + nr, #name},
#include "arch/aarch64/syscalls32.def"
#undef DT_SYSCALL
};

#define DT_SYSCALL_TYPES_32
#include "arch/syscall_types.h"
static const dt_syscall_types compat_types[] = {
#include "arch/aarch64/syscall32_args.def"
};

const struct dt_arch_calls dt_aarch64_calls = {
    .v = calls,
    .n = DT_NELEM(calls),
    .compat = compat_calls,
    .ncompat = DT_NELEM(compat_calls),
    .compat_types = compat_types,
    .ncompat_types = DT_NELEM(compat_types),
    .child_returns = false, /* ret_from_fork() goes past syscall_trace_exit() */
};
