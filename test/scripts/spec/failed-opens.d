#!/usr/sbin/dtrace -s
// run: -e -Z
/* Show the way of an open(2) through the kernel, but only of those that fail. */

#pragma D option flowindent
#pragma D option nspec=4
#pragma D option specsize=1m

syscall::openat:entry
/pid == $pid || 1/
{
	self->spec = speculation();
	speculate(self->spec);
	printf("%s", stringof(copyinstr(arg1)));
}

fbt:::
/self->spec/
{
	speculate(self->spec);
	trace(arg0);
}

syscall::openat:return
/self->spec/
{
	speculate(self->spec);
	trace(errno);
}

syscall::openat:return
/self->spec && errno != 0/
{
	commit(self->spec);
	self->spec = 0;
}

syscall::openat:return
/self->spec && errno == 0/
{
	discard(self->spec);
	self->spec = 0;
}
