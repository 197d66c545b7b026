#!/usr/sbin/dtrace -Fs
// run: -e -F -Z openat
/* What happens in the kernel during one system call ($1)? Best with -F. */

syscall::$1:entry
/!self->traced/
{
	self->traced = 1;
	printf("pid %d, %s", pid, execname);
}

fbt:::
/self->traced/
{}

syscall::$1:return
/self->traced/
{
	self->traced = 0;
	exit(0);
}
