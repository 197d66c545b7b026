/*
 * dtext for aarch64: see arch/dtext.h. Indices of uregs[] are those of aarch64/arch.c.
 */
#ifndef DT_ARCH_AARCH64_DTEXT_H
#define DT_ARCH_AARCH64_DTEXT_H

/* x0 is the result then, and orig_x0 the argument; r0 ... of 32-bit programs are the same words. */
#define DT_SYSCALL_NATIVE_ARG(n) DT_SYSCALL_NATIVE_##n
#define DT_SYSCALL_NATIVE_0	 "uregs[34]"
#define DT_SYSCALL_NATIVE_1	 "uregs[1]"
#define DT_SYSCALL_NATIVE_2	 "uregs[2]"
#define DT_SYSCALL_NATIVE_3	 "uregs[3]"
#define DT_SYSCALL_RETURN_ARG(n) DT_SYSCALL_NATIVE_##n

/* CLONE_VM and CLONE_VFORK, without a stack of its own: posix_spawn() makes one */
#define DT_IS_VFORK(flags, stack)  "(" flags " & ~0xff) == 0x4100 && (" stack " == 0 || " stack " == uregs[31])"
#define DT_NOT_VFORK(flags, stack) " && !(" DT_IS_VFORK(flags, stack) ")"

/* aarch64 has no such tracepoints: vminfo uses functions. */
#define DT_FAULT_IS_WRITE "0"

#endif
