#!/usr/sbin/dtrace -s
// run: -e -Z vfs_read
/* How long does kernel function $1 take, calls inside calls told apart? */

fbt::$1:entry
{
	self->depth++;
	self->start[self->depth] = timestamp;
}

fbt::$1:return
/self->start[self->depth]/
{
	@[$$1, self->depth] = quantize(timestamp - self->start[self->depth]);
	self->start[self->depth] = 0;
	self->depth--;
}
