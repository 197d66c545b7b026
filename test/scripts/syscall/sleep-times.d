#!/usr/sbin/dtrace -s
// run: -e
/* How long do programs ask to sleep, and how long do they sleep? */

syscall::nanosleep:entry,
syscall::clock_nanosleep:entry
{
	this->addr = probefunc == "nanosleep" ? arg0 : arg2;
	this->req = (struct __kernel_timespec *)copyin(this->addr, sizeof (struct __kernel_timespec));
	self->asked = this->req->tv_sec * 1000000000 + this->req->tv_nsec;
	self->since = timestamp;
}

syscall::nanosleep:return, syscall::clock_nanosleep:return
/self->since/
{
	@asked[execname] = lquantize(self->asked / 1000000, 0, 1000, 100);
	@late[execname] = llquantize(timestamp - self->since - self->asked, 10, 3, 9, 20);
	self->since = 0;
	self->asked = 0;
}
