/* getppid N: call getppid() N times. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int n = argc > 1 ? atoi(argv[1]) : 1; n > 0; n--)
		getppid();
	return 0;
}
