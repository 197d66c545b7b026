#!/usr/sbin/dtrace -s
// run: -e
/* A line a second, header every twenty lines: how busy are system calls and processes? */

#pragma D option quiet

inline int SCREEN = 21;

int calls, forks, lines;

dtrace:::BEGIN
{
	lines = SCREEN + 1;
}

profile:::tick-1sec
/lines++ > SCREEN/
{
	printf("%20s %8s %8s\n", "TIME", "CALLS", "FORKS");
	lines = 0;
}

syscall:::entry { calls++; }

syscall::*fork:return,
syscall::clone*:return
/arg0 != 0 && arg0 != -1/
{
	forks++;
}

profile:::tick-1sec
{
	printf("%20Y %8d %8d\n", walltimestamp, calls, forks);
	calls = 0;
	forks = 0;
}
