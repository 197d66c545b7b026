#!/usr/sbin/dtrace -Cs
// run: -C -e
/*
 * Which files are opened by whom? Prints user, process, descriptor, flags
 * and path of each open(2), openat(2) and creat(2).
 */

#pragma D option quiet
#pragma D option switchrate=10hz

#define	WIDTH	30
#define	PATHARG(f)	((f) == "openat" ? arg1 : arg0)

dtrace:::BEGIN
{
	printf("%5s %6s %-16s %3s %3s %s\n", "UID", "PID", "COMM", "FD", "ERR", "PATH");
}

syscall::open:entry, syscall::openat:entry, syscall::creat:entry
{
	self->pathp = PATHARG(probefunc);
	self->flags = probefunc == "openat" ? arg2 : probefunc == "open" ? arg1 : O_CREAT | O_TRUNC | O_WRONLY;
	self->ok = 1;
}

syscall::open:return, syscall::openat:return, syscall::creat:return
/self->ok/
{
	printf("%5d %6d %-16s %3d %3d %s%s\n", uid, pid, execname, (int)arg0, errno,
	    copyinstr(self->pathp), self->flags & O_CREAT ? " (create)" : "");
	self->pathp = 0;
	self->flags = 0;
	self->ok = 0;
}
