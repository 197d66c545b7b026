/* Rounds for ever: each closes 100 descriptors that are not open, 1000 to 1099, then 2000; a moment between rounds. */
#include <unistd.h>

int main(void)
{
	for (;;) {
		for (int i = 0; i < 100; i++)
			close(1000 + i);
		close(2000);
		usleep(100000);
	}
}
