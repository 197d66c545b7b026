/*
 * site for x86-64: a nop of two bytes, and one of five, which Linux 6.18 turns into a call.
 */
#include <stddef.h>

#include "arch/site.h"

#define TURNS 16

extern const char dt_site_trap[] __attribute__((visibility("hidden"))),
    dt_site_call[] __attribute__((visibility("hidden")));

/* The labels in the code must be unique. */
#if defined(__clang__)
#define ONCE __attribute__((noinline))
#else
#define ONCE __attribute__((noinline, noclone))
#endif

/* No call and no return in the loop: after a trip through the kernel the first return is
 * mispredicted. */
ONCE static void pass_trap(void)
{
	__asm__ volatile("mov %0, %%ecx\n\t.globl dt_site_trap\n\t.hidden dt_site_trap\n"
			 "dt_site_trap:\n\t.byte 0x66, 0x90\n\tdec %%ecx\n\tjnz dt_site_trap"
			 :
			 : "i"(TURNS)
			 : "rcx", "memory");
}

/* The call writes below the stack pointer, where compilers keep variables of a leaf function. */
ONCE static void pass_call(void)
{
	__asm__ volatile(
	    "lea -128(%%rsp), %%rsp\n\tmov %0, %%ecx\n\t.globl dt_site_call\n\t.hidden "
	    "dt_site_call\n"
	    "dt_site_call:\n\t.byte 0x0f, 0x1f, 0x44, 0, 0\n\tdec %%ecx\n\tjnz dt_site_call\n"
	    "\tlea 128(%%rsp), %%rsp"
	    :
	    : "i"(TURNS)
	    : "rcx", "memory");
}

extern const char dt_site_move[] __attribute__((visibility("hidden")));

/* nop; xor %eax, %eax; jmp 2f	+16: jmp 1f	+18 (the nop counted as well): xor %eax, %eax; jmp 2f	1: mov $1, %eax	2: */
ONCE static int pass_move(void)
{
	int moved;

	__asm__ volatile(".globl dt_site_move\n\t.hidden dt_site_move\n"
			 "dt_site_move:\n\t.byte 0x66, 0x90\n\txor %%eax, %%eax\n\tjmp 2f\n\t.org dt_site_move + %c1, 0x90\n\tjmp 1f\n\t"
			 "xor %%eax, %%eax\n\tjmp 2f\n1:\tmov $1, %%eax\n2:"
			 : "=a"(moved)
			 : "i"(DT_SITE_DISTANCE)
			 : "memory", "cc");
	return moved;
}

const struct dt_site_moved *dt_site_moved(void)
{
	static const struct dt_site_moved moved = {dt_site_move, pass_move};

	return &moved;
}

const struct dt_site_pair *dt_site_pair(void)
{
	static const struct dt_site_pair pair = {dt_site_trap, dt_site_call, pass_trap, pass_call};

	return &pair;
}
