#!/usr/sbin/dtrace -Cs
// run: -C -e
/* Types of the C library's headers in a script: stat(2) results. */

#include <sys/types.h>
#include <sys/stat.h>

syscall::statx:entry
{
	self->buf = arg4;
}

syscall::statx:return
/self->buf && errno == 0/
{
	this->st = (struct statx *)copyin(self->buf, sizeof (struct statx));
	@size[execname, this->st->stx_mode & S_IFMT] = quantize(this->st->stx_size);
	@links[this->st->stx_nlink] = count();
	self->buf = 0;
}
