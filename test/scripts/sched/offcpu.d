#!/usr/sbin/dtrace -s
// run: -e -Z
/* Why is this process not running? Stacks by the time spent off CPU, in milliseconds. */

#pragma D option quiet
#pragma D option stackframes=32

sched:::off-cpu
/pid == $target || $target == 0/
{
	self->off = timestamp;
}

sched:::on-cpu
/self->off/
{
	@[stack(), ustack(8)] = sum(timestamp - self->off);
	@max[tid] = max(timestamp - self->off);
	@min[tid] = min(timestamp - self->off);
	@dev[tid] = stddev(timestamp - self->off);
	self->off = 0;
}

END
{
	normalize(@, 1000000);
	trunc(@, 20);
	printa("%k%k  %@d ms\n\n", @);
	printa("thread %d: min %@d max %@d deviation %@d\n", @min, @max, @dev);
}
