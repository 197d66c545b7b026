/*
 * compat: system calls as a 32-bit program makes them, by int $0x80, among those of a 64-bit program.
 *
 *	compat N	N times: getppid twice as 64-bit, once as 32-bit; a 32-bit write of "low" to a pipe, and a
 *			32-bit close of -1, which fails. Status 77: the kernel does not know such calls.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WRITE32 = 4, CLOSE32 = 6, GETPPID32 = 64 };

static int call32(int nr, unsigned a, unsigned b, unsigned c)
{
	int ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static sigjmp_buf no_such_calls;

static void on_fault(int sig)
{
	siglongjmp(no_such_calls, sig);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, fds[2];
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	char back[8];

	signal(SIGSEGV, on_fault);
	if (low == MAP_FAILED || pipe(fds) < 0)
		return 1;
	if (sigsetjmp(no_such_calls, 1) || call32(GETPPID32, 0, 0, 0) != (int)getppid())
		return 77;
	strcpy(low, "low");
	for (int i = 0; i < n; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
		call32(GETPPID32, 0, 0, 0);
		if (call32(WRITE32, (unsigned)fds[1], (unsigned)(unsigned long)low, 4) != 4 || read(fds[0], back, 8) != 4 ||
		    call32(CLOSE32, -1u, 0, 0) >= 0)
			return 1;
	}
	return 0;
}
