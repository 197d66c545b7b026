#!/usr/sbin/dtrace -s
// run: -e
/* How many bytes are read from which file descriptor, and how large are the requests? */

syscall::read:entry
{
	self->fd = arg0;
	self->size = arg2;
	self->in = 1;
}

syscall::read:return
/self->in && arg0 > 0/
{
	@bytes[execname, self->fd] = sum(arg0);
	@avg[execname, self->fd] = avg(arg0);
	@req["requested"] = quantize(self->size);
	@req["returned"] = quantize(arg0);
}

syscall::read:return
/self->in/
{
	self->fd = 0;
	self->size = 0;
	self->in = 0;
}

END
{
	printa("%16s fd %3d: %@12d bytes, %@8d on average\n", @bytes, @avg);
	printa(@req);
}
