/*
 * vfork FILE: sleeps where a debugger cannot stop it (its child has its memory) until FILE exists,
 * then ends with status 4.
 */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t child = argc > 1 ? vfork() : -1;

	if (child == 0) {
		while (access(argv[1], F_OK) < 0)
			usleep(10000);
		_exit(0);
	}
	return child > 0 && waitpid(child, NULL, 0) == child ? 4 : 9;
}
