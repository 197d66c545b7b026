/* The library of points.c. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void initialise(void)
{
	syscall(SYS_getppid);
}
