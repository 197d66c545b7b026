#!/usr/sbin/dtrace -s
// run: -e -Z
/* What does the process allocate? Sizes by user stack, leaks by what stays. */

#pragma D option quiet

pid$target:libc.so.6:malloc:entry
{
	self->size = arg0;
	@sizes = quantize(arg0);
	@bystack[ustack(6)] = sum(arg0);
}

pid$target:libc.so.6:malloc:return
/self->size/
{
	live[arg1] = self->size;
	@live = sum(self->size);
	self->size = 0;
}

pid$target:libc.so.6:free:entry
/live[arg0]/
{
	@live = sum(-live[arg0]);
	live[arg0] = 0;
}

END
{
	printa(@sizes);
	trunc(@bystack, 3);
	printa(@bystack);
	printa("still allocated: %@d bytes\n", @live);
}
