#!/usr/sbin/dtrace -s
/*
 * statsnoop - files whose attributes are looked up by name, and by which process
 *
 * USAGE
 *	dtrace -s statsnoop [-p pid | -c command] [name [failed]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	failed	1: only calls that failed (default: 0)
 *
 * OUTPUT
 *	UID	user
 *	PID	process
 *	COMM	name of the program
 *	CALL	stat, lstat, newfstatat, statx, access, faccessat or faccessat2
 *	ERR	0, or why it failed
 *	PATH	as the program gave it; empty: the call is about a descriptor
 *
 * SEE ALSO
 *	opensnoop
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
	printf("%6s %7s %-16s %-10s %-12s %s\n", "UID", "PID", "COMM", "CALL", "ERR", "PATH");
}

syscall::stat:entry, syscall::lstat:entry, syscall::access:entry
/WANTED/
{
	self->path = arg0;
}

syscall::newfstatat:entry, syscall::statx:entry, syscall::faccessat*:entry
/WANTED/
{
	self->path = arg1;
}

syscall::*stat*:return, syscall::*access*:return
/self->path && (errno || !FAILED)/
{
	printf("%6d %7d %-16s %-10s %-12s %s\n", uid, pid, execname, probefunc, errno_name[errno], copyinstr(self->path));
}

syscall::*stat*:return, syscall::*access*:return
{
	self->path = 0;
}
