#!/usr/sbin/dtrace -s
// run: -e
/* Which processes make the most system calls? Ourselves left out; the top ten at the end. */

#pragma D option quiet

dtrace:::BEGIN
{
	printf("Tracing... Hit Ctrl-C to end.\n");
}

syscall:::entry
/execname != "dtrace" && pid != $pid/
{
	@calls[execname, pid, probefunc] = count();
}

dtrace:::END
{
	trunc(@calls, 10);
	printf("%-16s %8s %-20s %8s\n", "EXEC", "PID", "SYSCALL", "COUNT");
	printa("%-16s %8d %-20s %@8d\n", @calls);
}
