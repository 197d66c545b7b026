#!/usr/sbin/dtrace -s
// run: -e -x defaultargs 5
/* Interval and count from the command line, with defaults: script [interval [count]] */

#pragma D option quiet
#pragma D option defaultargs

inline int INTERVAL = $1 ? $1 : 1;
inline int COUNTER = $2 ? $2 : -1;

dtrace:::BEGIN
{
	secs = INTERVAL;
	times = COUNTER;
}

syscall:::entry
{
	@[probefunc] = count();
}

profile:::tick-1sec
{
	secs--;
}

profile:::tick-1sec
/secs == 0/
{
	printf("\n%Y\n", walltimestamp);
	normalize(@, INTERVAL);
	printa("%20s %@8d/s\n", @);
	trunc(@);
	secs = INTERVAL;
	times--;
}

profile:::tick-1sec
/times == 0/
{
	exit(0);
}
