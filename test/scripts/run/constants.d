#!/usr/sbin/dtrace -s
/* Names of the libraries: errors, signals, flags, families, registers, faults. */

#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", ENOENT, EAGAIN, EWOULDBLOCK, ETIMEDOUT);
	printf("%d %d %d %d\n", SIGHUP, SIGINT, SIGKILL, SIGCHLD);
	printf("%d %d 0%o 0%o\n", O_RDONLY, O_WRONLY, O_CREAT, O_CLOEXEC);
	printf("%d %d %d %d\n", AF_UNIX, AF_INET, AF_INET6, IPPROTO_TCP);
	printf("%d %d\n", R_PC == R_SP, DTRACEFLT_DIVZERO);
	printf("%d\n", NULL);
	exit(0);
}
