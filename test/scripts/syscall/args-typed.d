#!/usr/sbin/dtrace -s
// run: -e
/* Typed arguments: who opens what for writing? */

#pragma D option quiet

syscall::openat:entry
/(args[2] & O_ACCMODE) != O_RDONLY/
{
	printf("%s: %s 0%o at %d\n", execname, copyinstr((uintptr_t)args[1]), args[3], args[0]);
}

syscall::write:entry
{
	@[execname] = quantize(args[2]);
}
