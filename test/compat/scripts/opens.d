#!/usr/sbin/dtrace -s
// run: -e
/*
 * opens.d: which files are opened, by whom, and with what result.
 *
 *	opens.d [NAME]		only processes of this name
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz

inline string NAME = $$1;

dtrace:::BEGIN
{
	printf("%5s %6s %-16s %4s %3s %s\n", "UID", "PID", "COMM", "FD", "ERR", "PATH");
}

syscall::open:entry
/NAME == "" || execname == NAME/
{
	self->path = arg0;
	self->flags = arg1;
	self->in = 1;
}

syscall::openat*:entry
/NAME == "" || execname == NAME/
{
	self->path = arg1;
	self->flags = probefunc == "openat" ? arg2 : 0;
	self->in = 1;
}

syscall::open:return, syscall::openat*:return
/self->in/
{
	printf("%5d %6d %-16s %4d %3d %s%s\n", uid, pid, execname, (int)arg1 < 0 ? -1 : (int)arg1, errno,
	    copyinstr(self->path), self->flags & O_CREAT ? " (create)" : "");
	@opens[execname, errno == 0 ? "opened" : errno == ENOENT ? "missing" : "failed"] = count();
	self->path = 0;
	self->flags = 0;
	self->in = 0;
}

dtrace:::END
{
	printf("\n%-16s %-8s %8s\n", "COMM", "RESULT", "COUNT");
	printa("%-16s %-8s %@8d\n", @opens);
}
