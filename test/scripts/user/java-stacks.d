#!/usr/sbin/dtrace -s
// run: -e
/* Where do Java threads enter the kernel? */

#pragma D option jstackstrsize=2048

syscall::futex:entry
/execname == "java"/
{
	@[jstack(20, 1024)] = count();
	jstack();
}
