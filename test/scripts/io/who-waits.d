#!/usr/sbin/dtrace -s
// run: -e -Z
/* Which stacks start disk I/O? */

io:::start
{
	@stacks[execname, stack(15)] = count();
	@procs[pid, execname] = sum(arg1);
}

io:::wait-start
{
	self->wait = timestamp;
}

io:::wait-done
/self->wait/
{
	@waits[execname] = avg(timestamp - self->wait);
	self->wait = 0;
}
