/* returns: functions that return in many ways; each part prints what it computed. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

APART long leaf(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* Deeper than the 64 returns that the kernel can remember. */
APART long deep(long n)
{
	long below = n > 0 ? deep(n - 1) : 0;

	__asm__ volatile("" : "+r"(below));
	return below + n;
}

/* takes: with 16 bytes of arguments on the stack, which on x86-64 its return takes off. again: returns by an instruction of another
 * form. */
long takes(long a, long b);
long again(long n);
#ifdef __x86_64__
#define CODE(takes, again) takes "\tmov 8(%rsp), %rax\n\tadd 16(%rsp), %rax\n\tret $16\n" again "\tlea 2(%rdi), %rax\n\trep ret\n"
#define CALL_TAKES(sum, a, b)                                                                      \
	__asm__ volatile("sub $128, %%rsp\n\tpush %2\n\tpush %1\n\tcall takes\n\tadd $128, %%rsp"  \
			 : "=a"(sum)                                                               \
			 : "r"(a), "r"(b)                                                          \
			 : "memory", "cc", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")
#else
#define CODE(takes, again) takes "\tldp x0, x1, [sp]\n\tadd x0, x0, x1\n\tret\n" again "\tadd x0, x0, 2\n\tmov x9, x30\n\tret x9\n"
#define CALL_TAKES(sum, a, b)                                                                      \
	__asm__ volatile("stp %1, %2, [sp, -16]!\n\tbl takes\n\tmov %0, x0\n\tadd sp, sp, 16"      \
			 : "=r"(sum)                                                               \
			 : "r"(a), "r"(b)                                                          \
			 : "memory", "cc", "x0", "x1", "x16", "x17", "x30")
#endif
__asm__(CODE(".globl takes\n.type takes, %function\ntakes:\n",
	     ".size takes, .-takes\n.globl again\n.type again, %function\nagain:\n") ".size again, .-again\n");

static long call_takes(long a, long b)
{
	long sum;

	CALL_TAKES(sum, a, b);
	return sum;
}

static volatile long handled;

static void handler(int sig)
{
	(void)sig;
	handled += leaf(deep(3));
}

/* Interrupted by a signal that is handled on another stack, above or below, while its own return is pending. */
APART long interrupted(long n)
{
	raise(SIGUSR1);
	__asm__ volatile("" : "+r"(n));
	return n;
}

static jmp_buf away;

APART long leaves(long n)
{
	if (leaf(n) > 0)
		longjmp(away, 1);
	return n;
}

APART static void jump_away(long n)
{
	if (!setjmp(away))
		handled += leaves(n);
}

static ucontext_t main_context, other_context;

static void coroutine(void)
{
	for (;;) {
		handled += leaf(1);
		swapcontext(&other_context, &main_context);
	}
}

APART long switches(long n)
{
	swapcontext(&main_context, &other_context);
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void *thread(void *arg)
{
	long n = (long)arg, sum = 0;

	for (long i = 0; i < n; i++)
		sum += leaf(i);
	return (void *)sum;
}

static long sum;

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	char *stacks = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	stack_t alternate = {.ss_sp = stacks, .ss_size = 1 << 18};
	pthread_t t[4];

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stacks + (1 << 19);
	other_context.uc_stack.ss_size = 1 << 18;
	makecontext(&other_context, coroutine, 0);
	for (long i = 0; i < n; i++) {
		sum += deep(100) + call_takes(i, 2) + again(i) + interrupted(i) + switches(i);
		jump_away(i);
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, (void *)n);
	for (int i = 0; i < 4; i++) {
		void *r;

		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("%ld %ld\n", sum, handled);
	return 0;
}
