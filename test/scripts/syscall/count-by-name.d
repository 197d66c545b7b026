#!/usr/sbin/dtrace -s
// run: -e
/* Which system calls are made on this machine, and how often? */

syscall:::entry
{
	@num[probefunc] = count();
}
