#!/usr/sbin/dtrace -s
// run: -e
/*
 * Where does the time of system calls go? Elapsed and on-CPU time of each,
 * as totals in microseconds.
 */

#pragma D option quiet

syscall:::entry
{
	self->start = timestamp;
	self->vstart = vtimestamp;
}

syscall:::return
/self->start/
{
	this->elapsed = timestamp - self->start;
	this->oncpu = vtimestamp - self->vstart;
	@count[probefunc] = count();
	@elapsed[probefunc] = sum(this->elapsed);
	@oncpu[probefunc] = sum(this->oncpu);
	self->start = 0;
	self->vstart = 0;
}

dtrace:::END
{
	normalize(@elapsed, 1000);
	normalize(@oncpu, 1000);
	printf("\n%-20s %10s %12s %12s\n", "SYSCALL", "COUNT", "ELAPSED(us)", "ONCPU(us)");
	printa("%-20s %@10d %@12d %@12d\n", @count, @elapsed, @oncpu);
}
