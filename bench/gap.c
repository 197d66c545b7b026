/* gap: looks at the clock all the time for so many milliseconds, and prints how long it was at most without the CPU, in ms.
 * Prints its pid at once. Run it at real-time priority: then only a tracer that stops it takes the CPU away. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1000), last, worst = 0, t;

	printf("%d\n", getpid());
	fflush(stdout);
	for (last = now(); last < end; last = t) {
		t = now();
		worst = t - last > worst ? t - last : worst;
	}
	printf("%.2f\n", worst);
	return 0;
}
