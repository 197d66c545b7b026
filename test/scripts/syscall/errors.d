#!/usr/sbin/dtrace -s
// run: -e
/* Which system calls fail, with which error, in which program? */

#pragma D option quiet
#pragma D option aggsortrev

syscall:::return
/errno != 0/
{
	@failed[execname, probefunc, errno] = count();
}

profile:::tick-5sec
{
	printf("%Y\n", walltimestamp);
	printa("  %-16s %-20s errno %-4d %@6u\n", @failed);
	trunc(@failed);
}
