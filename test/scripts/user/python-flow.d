#!/usr/sbin/dtrace -Zs
// run: -e -Z
/* Calls of Python functions, indented by depth. */

#pragma D option quiet
#pragma D option switchrate=10

self int depth;

BEGIN
{
	printf("%3s %-16s %-20s -- %s\n", "C", "TIME(us)", "FILE", "FUNC");
}

python*:::function-entry
{
	printf("%3d %-16d %-20s %*s-> %s\n", cpu, timestamp / 1000, basename(copyinstr(arg0)),
	    self->depth * 2, "", copyinstr(arg1));
	self->depth++;
}

python*:::function-return
/self->depth > 0/
{
	self->depth--;
	printf("%3d %-16d %-20s %*s<- %s\n", cpu, timestamp / 1000, basename(copyinstr(arg0)),
	    self->depth * 2, "", copyinstr(arg1));
}
