#!/usr/sbin/dtrace -s
// run: -e -Z -c /bin/true getppid
// needs: root bpf
/*
 * insidecall.d: what the kernel calls during one system call of the target, indented.
 */
#pragma D option flowindent
#pragma D option defaultargs
#pragma D option bufsize=8m

int done;

syscall::$$1:entry
/pid == $target && !done/
{
	self->on = 1;
}

fbt:::
/self->on/
{
}

syscall::$$1:return
/self->on/
{
	self->on = 0;
	done = 1;
	exit(0);
}
