/*
 * enter: what every probe of the process engine runs in the target, and the few instructions that its runtime cannot say in C.
 *
 * A probe is a jump to its stub, which steps over the red zone, saves rdi, puts the site there and calls dt_rt_enter. What
 * is pushed here is struct dt_pe_frame (process/exchange.h). Functions of C keep rbx, rbp and r12 to r15, and none uses
 * vector registers. The flags are saved by lahf and seto, which are much cheaper than pushf and popf.
 */
	.section .text.first, "ax"
	.globl	dt_rt_enter, dt_rt_syscall, dt_rt_thread_word, dt_rt_ask_cpu, dt_rt_anchor
	.set	dt_rt_anchor, dt_rt_enter - 4096
	.hidden	dt_rt_anchor

dt_rt_enter:
	push	%rax
	lahf
	seto	%al
	push	%rax
	cmpl	$0, dt_rt_anchor(%rip)
	je	1f
	push	%rsi
	push	%rdx
	push	%rcx
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	$0
	mov	%rsp, %rsi
	mov	%rsp, %rbp
	and	$-16, %rsp
	call	dt_rt_fire
	lea	40(%rbp), %rsp	/* over the token and r15 to r12 */
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rcx
	pop	%rdx
	pop	%rsi
1:	pop	%rax
	add	$127, %al
	sahf
	pop	%rax
	ret

/* The functions that machine code calls: DT_PE_HELPERS_AT. */
	.org	512
#define DT_PE_HELPER(name) .long name - dt_rt_enter;
#include "arch/helpers.def"

	.text
dt_rt_syscall:
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	%rcx, %rdx
	mov	%r8, %r10
	mov	%r9, %r8
	mov	8(%rsp), %r9
	syscall
	ret

dt_rt_thread_word:
	movslq	%edi, %rdi
	mov	%fs:(%rdi), %eax
	ret

/* The kernel keeps it in the limit of a segment, for getcpu(). */
dt_rt_ask_cpu:
	mov	$0x7b, %eax
	lsl	%eax, %eax
	and	$0xfff, %eax
	ret

	.section .note.GNU-stack, "", @progbits
