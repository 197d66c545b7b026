#!/usr/sbin/dtrace -s
// run: -e -Z
/* How often do threads move between CPUs? */

self int last;
self char seen;

sched:::on-cpu
/self->seen && self->last != cpu/
{
	@moves[execname, self->last, cpu] = count();
}

sched:::on-cpu
{
	self->last = cpu;
	self->seen = 1;
}
