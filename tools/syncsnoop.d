#!/usr/sbin/dtrace -s
/*
 * syncsnoop - calls that wait until data is on disk, and how long they take
 *
 * USAGE
 *	dtrace -s syncsnoop [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process
 *	COMM	name of the program
 *	CALL	sync, syncfs, fsync, fdatasync, sync_file_range or msync
 *	LAT(us)	how long the call took
 *	FILE	for a call with a descriptor: the file
 *
 * SEE ALSO
 *	fsslower, biosnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-15s %9s %s\n", "TIME(ms)", "PID", "COMM", "CALL", "LAT(us)", "FILE");
}

syscall::f*sync:entry, syscall::sync?*:entry
/WANTED/
{
	self->start = timestamp;
	self->file = fds[arg0].fi_pathname;
}

syscall::sync:entry, syscall::msync:entry
/WANTED/
{
	self->start = timestamp;
	self->file = "";
}

syscall::*sync*:return
/self->start/
{
	printf("%10d %7d %-16s %-15s %9d %s\n", (self->start - began) / 1000000, pid, execname, probefunc,
	    (timestamp - self->start) / 1000, self->file);
	self->start = 0;
	self->file = 0;
}
