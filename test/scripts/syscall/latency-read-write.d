#!/usr/sbin/dtrace -s
// run: -e
/* How long do reads and writes take? A distribution for each. */

syscall::read:entry,
syscall::write:entry,
syscall::pread64:entry,
syscall::pwrite64:entry
{
	self->ts = timestamp;
}

syscall::read:return, syscall::write:return,
syscall::pread64:return, syscall::pwrite64:return
/self->ts != 0/
{
	@time[probefunc] = quantize(timestamp - self->ts);
	self->ts = 0;
}
