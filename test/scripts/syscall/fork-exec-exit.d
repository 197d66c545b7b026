#!/usr/sbin/dtrace -s
// run: -e
/* The life of processes as system calls show it: a state machine per thread. */

#pragma D option quiet

self int state;		/* 0 idle, 1 in execve, 2 in fork */
self uint64_t since;
uint64_t born[pid_t];

syscall::execve:entry
{
	self->state = 1;
	self->since = timestamp;
	self->file = copyinstr(arg0);
}

syscall::execve:return
/self->state == 1/
{
	printf("%6d exec %s: %s after %d us\n", pid, self->file, errno == 0 ? "ok" : "failed",
	    (timestamp - self->since) / 1000);
	born[pid] = errno == 0 ? timestamp : born[pid];
}

syscall::fork:entry, syscall::vfork:entry, syscall::clone:entry, syscall::clone3:entry
{
	self->state = 2;
	self->since = timestamp;
}

syscall::fork:return, syscall::vfork:return, syscall::clone:return, syscall::clone3:return
/self->state == 2 && arg0 > 0/
{
	printf("%6d %s made %d in %d us\n", pid, probefunc, arg0, (timestamp - self->since) / 1000);
}

syscall::execve:return, syscall::*fork:return, syscall::clone*:return
{
	self->state = 0;
	self->since = 0;
	self->file = 0;
}

syscall::exit_group:entry
/born[pid]/
{
	printf("%6d exit %d after %d ms\n", pid, arg0, (timestamp - born[pid]) / 1000000);
	born[pid] = 0;
}
