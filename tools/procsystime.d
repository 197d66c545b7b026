#!/usr/sbin/dtrace -s
/*
 * procsystime - time in system calls: total, average, maximum
 *
 * USAGE
 *	dtrace -s procsystime [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	COMM	name of the program
 *	CALL	name of the call
 *	COUNT	calls that have returned
 *	TOTAL(us)	total time from entry to return
 *	AVG(us)	average time
 *	MAX(us)	the longest
 *
 * NOTES
 *	Time in a call includes sleep: a server that waits in epoll_wait() is not slow.
 *
 * SEE ALSO
 *	syscount, offcputime
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Timing system calls... Ctrl-C ends.\n");
}

syscall:::entry
/WANTED/
{
	self->start = timestamp;
}

syscall:::return
/self->start/
{
	this->t = timestamp - self->start;
	self->start = 0;
	@count[execname, probefunc] = count();
	@total[execname, probefunc] = sum(this->t);
	@avg[execname, probefunc] = avg(this->t);
	@max[execname, probefunc] = max(this->t);
}

END
{
	normalize(@total, 1000);
	normalize(@avg, 1000);
	normalize(@max, 1000);
	printf("%-16s %-20s %8s %12s %10s %10s\n", "COMM", "CALL", "COUNT", "TOTAL(us)", "AVG(us)", "MAX(us)");
	printa("%-16s %-20s %@8d %@12d %@10d %@10d\n", @count, @total, @avg, @max);
}
