#!/usr/sbin/dtrace -s
// run: -e
/*
 * calltimes.d: system calls of one name of process: how many, how long, how long on a CPU.
 * Three tables and a distribution of the slowest kind.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline string NAME = $$1;
inline int TOP = $2 ? $2 : 10;

self uint64_t start, vstart;

dtrace:::BEGIN
{
	began = timestamp;
}

syscall:::entry
/NAME == "" || execname == NAME/
{
	@counts[probefunc] = count();
	self->start = timestamp;
	self->vstart = vtimestamp;
}

syscall:::return
/self->start/
{
	this->elapsed = timestamp - self->start;
	this->oncpu = vtimestamp - self->vstart;
	@elapsed[probefunc] = sum(this->elapsed);
	@oncpu[probefunc] = sum(this->oncpu);
	@longest[probefunc] = max(this->elapsed);
	@dist = quantize(this->elapsed);
	self->start = 0;
	self->vstart = 0;
}

dtrace:::END
{
	this->ms = (timestamp - began) / 1000000;
	printf("%d ms\n\nCOUNTS\n", this->ms);
	trunc(@counts, TOP);
	printa("  %-24s %@10d\n", @counts);
	printf("\nELAPSED, ON CPU AND LONGEST, us\n");
	normalize(@elapsed, 1000);
	normalize(@oncpu, 1000);
	normalize(@longest, 1000);
	trunc(@elapsed, TOP);
	trunc(@oncpu, TOP);
	trunc(@longest, TOP);
	printa("  %-24s %@10d\n", @elapsed);
	printa("  %-24s %@10d\n", @oncpu);
	printa("  %-24s %@10d\n", @longest);
	printa(@dist);
}
