#!/usr/sbin/dtrace -qs
// run: -e 10
/* System calls slower than $1 milliseconds, as they happen. */

inline int MS = 1000 * 1000;
inline uint64_t LIMIT = $1 * MS;

syscall:::entry
/execname != "dtrace"/
{
	self->t[probefunc] = timestamp;
}

syscall:::return
/self->t[probefunc] && timestamp - self->t[probefunc] >= LIMIT/
{
	this->ms = (timestamp - self->t[probefunc]) / MS;
	printf("%Y  %-16s %-6d %-20s %6d ms\n", walltimestamp, execname, pid, probefunc, this->ms);
}

syscall:::return
{
	self->t[probefunc] = 0;
}
