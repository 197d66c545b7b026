/*
 * site: what a static probe costs, in ns per turn of a loop: the best of many short chunks. Argument: which loop.
 *
 *	none	no probe		ours	a probe of ours (bench/site.d), not tested before
 *	tested	a probe of ours after its is-enabled test
 *	theirs	a one-byte nop and a note, as <sys/sdt.h> makes it, without a semaphore
 *	entry	a function that begins with a push, for an entry probe; the call is in the price
 *
 * With a second argument: waits for a line on standard input before, and says its pid.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "site.h"

#define TURNS 200
#define LOOP(name, what)                                                                                               \
	__attribute__((noinline)) static int name(int n)                                                               \
	{                                                                                                              \
		int sum = 0;                                                                                           \
		for (int i = 0; i < n; i++) {                                                                          \
			__asm__ volatile("" : "+r"(sum));                                                              \
			what;                                                                                          \
			sum += i;                                                                                      \
		}                                                                                                      \
		return sum;                                                                                            \
	}

__attribute__((noinline, used)) static int called(int n)
{
	__asm__ volatile("" : "+r"(n) : : "memory", "rbx");
	return n;
}

LOOP(none, )
LOOP(ours, BENCH_SITE(i))
LOOP(tested, if (BENCH_SITE_ENABLED()) BENCH_SITE(i))
LOOP(theirs, __asm__ volatile("990:\tnop\n\t.pushsection .note.stapsdt,\"?\",\"note\"\n\t.balign 4\n"
			      "\t.4byte 992f-991f, 994f-993f, 3\n991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n"
			      "993:\t.8byte 990b, _.stapsdt.base, 0\n\t.asciz \"theirs\"\n\t.asciz \"site\"\n\t.asciz \"-4@%0\"\n"
			      "994:\t.balign 4\n\t.popsection\n" : : "nor"(i)))
LOOP(entry, called(i))

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*loop)(int);
	} all[] = {{"none", none}, {"ours", ours}, {"tested", tested}, {"theirs", theirs}, {"entry", entry}};
	int (*loop)(int) = NULL;
	double best = 1e18;
	char line[16];

	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(all[i].name, argv[1]) == 0)
			loop = all[i].loop;
	if (!loop)
		return 2;
	if (argc > 2) {
		printf("%d\n", getpid());
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	for (int chunk = 0; chunk < 400; chunk++) {
		int turns = argc > 2 ? TURNS : 100 * TURNS; /* without a tracer a turn is a nanosecond */
		double start = now(), t;

		loop(turns);
		t = (now() - start) / turns;
		best = t < best ? t : best;
	}
	printf("%.3f\n", best);
	return 0;
}
