/* deep N: a function that has called itself N times, then getppid(). */
#include <stdlib.h>
#include <unistd.h>

static volatile long sink;

static __attribute__((noinline)) long down(long n)
{
	long r = n > 1 ? down(n - 1) : getppid();

	sink += r;
	return r + 1;
}

int main(int argc, char **argv)
{
	return down(argc > 1 ? atol(argv[1]) : 1) < 0;
}
