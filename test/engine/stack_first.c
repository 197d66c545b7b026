/* stack_first.sh traces this: it forks, sleeps and makes a system call, five times. */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 5; i++) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		getppid();
	}
}
