/*
 * dtext: D text that differs by CPU, for the tables of stable providers, which are constant. Host only: the folder of
 * the CPU defines
 *
 *   DT_SYSCALL_RETURN_ARG(n)  argument n (a digit) of the system call that returns, also of one of a 32-bit program
 *   DT_SYSCALL_NATIVE_ARG(n)  the same where only 64-bit programs have the call
 *   DT_IS_VFORK(flags, stack) is a clone() with these arguments what vfork() does, which is no call of its own?
 *   DT_NOT_VFORK(flags, stack) more of a condition: && it is not
 *   DT_FAULT_IS_WRITE         in the tracepoints page_fault_user and page_fault_kernel: a write to a present page
 */
#ifndef DT_ARCH_DTEXT_H
#define DT_ARCH_DTEXT_H

#if defined(__x86_64__)
#include "arch/x86_64/dtext.h"
#elif defined(__aarch64__)
#include "arch/aarch64/dtext.h"
#else
#error "a CPU without a folder in src/arch: see doc/porting.md"
#endif

#endif
