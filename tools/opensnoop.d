#!/usr/sbin/dtrace -s
/*
 * opensnoop - files opened, and by which process
 *
 * USAGE
 *	dtrace -s opensnoop [-p pid | -c command] [name [failed]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	failed	1: only calls that failed (default: 0)
 *
 * OUTPUT
 *	UID	user
 *	PID	process
 *	COMM	name of the program
 *	FD	descriptor, -1 if it failed
 *	ERR	0, or why it failed
 *	PATH	as the program gave it
 *
 * SEE ALSO
 *	statsnoop, execsnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option zdefs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int FAILED = $2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%6s %7s %-16s %4s %-12s %s\n", "UID", "PID", "COMM", "FD", "ERR", "PATH");
}

syscall::open:entry, syscall::creat:entry
/WANTED/
{
	self->path = arg0;
}

syscall::openat*:entry
/WANTED/
{
	self->path = arg1;
}

syscall::open*:return, syscall::creat:return
/self->path && (errno || !FAILED)/
{
	printf("%6d %7d %-16s %4d %-12s %s\n", uid, pid, execname, errno ? -1 : (int)arg1, errno_name[errno],
	    copyinstr(self->path));
}

syscall::open*:return, syscall::creat:return
{
	self->path = 0;
}
