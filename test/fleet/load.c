/* Closes descriptors that are not open: 1000, 1001 ... N of them, as often as asked: load N TIMES. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = atoi(argv[1]), times = argc > 2 ? atoi(argv[2]) : 1;

	while (times--)
		for (int i = 0; i < n; i++)
			close(1000 + i);
	return 0;
}
