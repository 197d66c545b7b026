/*
 * stacks: a program with stacks to walk, for the tests of the process engine. leaf() is reached
 *   - through recursion, compiled without frame pointers
 *   - from a function of the C library that calls back
 *   - in a signal handler, in a thread, on a stack of its own (a coroutine), with a damaged frame pointer
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static volatile long sink;

__attribute__((noipa)) long leaf(long why)
{
	sink++;
	__asm__ volatile("" ::: "memory");
	return why + sink;
}

__attribute__((noipa)) long down(long n)
{
	volatile long x[4] = {n, n, n, n};

	return n ? down(n - 1) + x[n & 3] : leaf(1) + x[0];
}

__attribute__((noipa)) int compare(const void *a, const void *b)
{
	leaf(2);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noipa)) void handler(int sig)
{
	sink += sig + leaf(3);
}

__attribute__((noipa)) void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

__attribute__((noipa)) void *thread(void *arg)
{
	sink += leaf(4);
	return arg;
}

static ucontext_t back, other;

__attribute__((noipa)) void coroutine(void)
{
	sink += leaf(5);
	swapcontext(&other, &back);
	sink += leaf(5);
}

/* Its stack ends with the mapping; a second one is where the first was, and shorter. */
static void coroutines(void)
{
	for (size_t size = 256 << 10; size >= 64 << 10; size /= 2) {
		char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		getcontext(&other);
		other.uc_stack.ss_sp = stack;
		other.uc_stack.ss_size = size;
		other.uc_link = &back;
		makecontext(&other, coroutine, 0);
		swapcontext(&back, &other);
		swapcontext(&back, &other);
		munmap(stack, size);
	}
}

/* Not described: the walker has only the frame pointer, which leads nowhere. */
long damaged(void);
__asm__(".text\n.globl damaged\n.type damaged, @function\ndamaged:\n\tpush %rbp\n\tpush %rbx\n\tmov $0x123450, %rbp\n\tmov $6, %edi\n"
	"\tsub $8, %rsp\n\tcall leaf\n\tadd $8, %rsp\n\tmov %rsp, %rbp\n\tor $4095, %rbp\n\tadd $0x7ffffff9, %rbp\n\tsub $8, %rsp\n\tcall leaf\n"
	"\tadd $8, %rsp\n\tpop %rbx\n\tpop %rbp\n\tret\n.size damaged, . - damaged");

int main(void)
{
	int v[] = {3, 2, 1};
	pthread_t t;

	signal(SIGUSR1, handler);
	down(3);
	qsort(v, 3, sizeof(*v), compare);
	interrupted();
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	coroutines();
	damaged();
	puts("end");
	return 0;
}
