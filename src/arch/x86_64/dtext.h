/*
 * dtext for x86-64: see arch/dtext.h. Indices of uregs[] are those of x86_64/arch.c.
 */
#ifndef DT_ARCH_X86_64_DTEXT_H
#define DT_ARCH_X86_64_DTEXT_H

/* rdi rsi rdx r10; in 32-bit programs ebx ecx edx esi. TS_COMPAT (2) says that it is one. */
#define DT_SYSCALL_NATIVE_ARG(n) DT_SYSCALL_NATIVE_##n
#define DT_SYSCALL_NATIVE_0	 "uregs[14]"
#define DT_SYSCALL_NATIVE_1	 "uregs[13]"
#define DT_SYSCALL_NATIVE_2	 "uregs[12]"
#define DT_SYSCALL_NATIVE_3	 "uregs[7]"
#define DT_SYSCALL_COMPAT_0	 "uregs[5]"
#define DT_SYSCALL_COMPAT_1	 "uregs[11]"
#define DT_SYSCALL_COMPAT_3	 "uregs[13]"
#define DT_SYSCALL_EITHER(n)                                                                       \
	"((curthread->thread_info.status & 2) ? " DT_SYSCALL_COMPAT_##n " : " DT_SYSCALL_NATIVE_##n ")"
#define DT_SYSCALL_RETURN_0	 DT_SYSCALL_EITHER(0)
#define DT_SYSCALL_RETURN_1	 DT_SYSCALL_EITHER(1)
#define DT_SYSCALL_RETURN_2	 DT_SYSCALL_NATIVE_2 /* rdx and edx are one word */
#define DT_SYSCALL_RETURN_3	 DT_SYSCALL_EITHER(3)
#define DT_SYSCALL_RETURN_ARG(n) DT_SYSCALL_RETURN_##n

#define DT_IS_VFORK(flags, stack)  "0" /* it is a call of its own */
#define DT_NOT_VFORK(flags, stack) ""

/* bits of the error code: the page was present (1), it was a write (2) */
#define DT_FAULT_IS_WRITE "(args[2] & 3) == 3"

#endif
