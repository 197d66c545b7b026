/*
 * depth: the traced side of bench/ustack. "depth N" calls itself N frames deep, through sixteen
 * functions in turn, and prints what one getppid() takes there: nanoseconds, the best of many short
 * chunks; and which programs were attached to system calls (quiet.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "quiet.h"

#define FAR __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

volatile long sink;

FAR static void time_calls(void)
{
	quiet_print();
}

typedef long step_f(long n);
extern step_f *const steps[16];
#define STEP(i)                                                                                    \
	FAR static long step##i(long n)                                                            \
	{                                                                                          \
		volatile long place[i + 1];                                                        \
                                                                                                   \
		place[i] = n;                                                                      \
		if (n <= 0)                                                                        \
			time_calls();                                                              \
		else                                                                               \
			sink += steps[(i + 1) % 16](n - 1);                                        \
		return place[i];                                                                   \
	}
STEP(0)
STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11) STEP(12)
    STEP(13) STEP(14)
	STEP(15) step_f *const steps[16] = {step0,  step1,  step2,  step3, step4,  step5,
					    step6,  step7,  step8,  step9, step10, step11,
					    step12, step13, step14, step15};

int main(int argc, char **argv)
{
	steps[0](argc > 1 ? atol(argv[1]) : 0);
	return 0;
}
