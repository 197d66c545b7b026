#!/usr/sbin/dtrace -s
// run: -e
/* Keep what a request did only if it took more than a tenth of a second. */

#pragma D option quiet
#pragma D option nspec=16

inline uint64_t SLOW = 100 * 1000000;

syscall::accept4:return
/arg0 >= 0/
{
	self->id = speculation();
	self->begin = timestamp;
}

syscall:::entry
/self->id/
{
	speculate(self->id);
	printf("  %8d us  %s(%x, %x)\n", (timestamp - self->begin) / 1000, probefunc, arg0, arg1);
}

syscall::close:entry
/self->id && timestamp - self->begin > SLOW/
{
	commit(self->id);
}

syscall::close:entry
/self->id && timestamp - self->begin <= SLOW/
{
	discard(self->id);
}

syscall::close:entry
{
	self->id = 0;
	self->begin = 0;
}
