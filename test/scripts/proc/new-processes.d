#!/usr/sbin/dtrace -s
// run: -e -Z
/* Which programs are started, by whom? */

#pragma D option quiet
#pragma D option switchrate=10hz

dtrace:::BEGIN
{
	printf("%-20s %6s %6s %6s %s\n", "TIME", "UID", "PPID", "PID", "ARGS");
}

proc:::exec-success
{
	printf("%Y %6d %6d %6d %s\n", walltimestamp, uid, ppid, pid, execargs);
}

proc:::exec-failure
{
	printf("%Y %6d %6d %6d %s: error %d\n", walltimestamp, uid, ppid, pid, execname, arg0);
}
