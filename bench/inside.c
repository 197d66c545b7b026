/*
 * inside: calls a function N times, five times over, and prints the least nanoseconds of CPU time for one call. With a number it
 * pauses so many milliseconds before each time, with "deep" there are ten frames more on the stack. With "hand" the
 * function has a patch that was written by hand: a call that saves all registers a function may change, and counts. Compiled with OWN
 * it passes a static probe of our own instead (own.h, made by dtrace -h).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef OWN
#include "own.h"
#endif

uint64_t count;
extern char stub[];
__asm__(".text\nstub:\n"
	"lea -128(%rsp), %rsp; push %rax; lahf; seto %al; push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; "
	"push %r10; push %r11\n"
	"incq count(%rip)\n"
	"pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax; add $127, %al; sahf; pop %rax; "
	"lea 128(%rsp), %rsp; ret\n");

__attribute__((noinline, patchable_function_entry(5))) long work(long a, long b)
{
	__asm__ volatile("" ::: "memory");
	return a * 3 + b;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void patch(void)
{
	uint8_t *at = (uint8_t *)(uintptr_t)work, jump[5] = {0xe8};
	int32_t far = (int32_t)((uint8_t *)stub - (at + 5));
	uintptr_t page = (uintptr_t)at & ~4095ul;

	memcpy(jump + 1, &far, 4);
	if (memcmp(at, "\xf3\x0f\x1e\xfa", 4) == 0)
		at += 4;
	mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(at, jump, 5);
	mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

static long measure(long n, long pause)
{
	double least = 1e9;
	long sum = 0;

	for (int r = 0; r < 5; r++) {
		double t;

		if (r && pause) /* until everything has been read */
			nanosleep(&(struct timespec){.tv_nsec = pause * 1000000}, NULL);
		t = now();

		for (long i = 0; i < n; i++)
#ifdef OWN
			BENCH_STEP(i & 7, i);
#else
			sum += work(i & 7, i);
#endif
		t = (now() - t) / (double)n;
		least = t < least ? t : least;
	}
	fprintf(stderr, "%.1f\n", least);
	return sum;
}

__attribute__((noipa)) long deep(long depth, long n)
{
	return (depth ? deep(depth - 1, n) : measure(n, 0)) + 1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	const char *how = argc > 2 ? argv[2] : "";

	if (strcmp(how, "hand") == 0)
		patch();
	return (strcmp(how, "deep") == 0 ? deep(8, n) : measure(n, atol(how))) == 1;
}
