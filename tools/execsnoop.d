#!/usr/sbin/dtrace -s
/*
 * execsnoop - programs that are started, with their arguments
 *
 * USAGE
 *	dtrace -s execsnoop [-p pid | -c command] [name [failed]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	failed	1: also show programs that could not be started (default: 0)
 *
 * OUTPUT
 *	UID	user
 *	PID	process that has become the program
 *	PPID	its parent
 *	ERR	0, or why it failed
 *	COMM	name of the program; if it failed, of the caller
 *	ARGS	arguments; if it failed, the path
 *
 * NOTES
 *	A shell that searches its PATH makes many calls that fail; they are shown only on request.
 *
 * SEE ALSO
 *	exitsnoop, threadsnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int FAILED = $2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%6s %7s %7s %-7s %-16s %s\n", "UID", "PID", "PPID", "ERR", "COMM", "ARGS");
}

proc:::exec-success
/WANTED/
{
	printf("%6d %7d %7d %-7s %-16s %s\n", uid, pid, ppid, "0", execname, curpsinfo->pr_psargs);
}

proc:::exec
/FAILED && WANTED/
{
	self->path = args[0];
}

proc:::exec-failure
/FAILED && WANTED/
{
	printf("%6d %7d %7d %-7s %-16s %s\n", uid, pid, ppid, errno_name[args[0]], execname, self->path);
}

proc:::exec-failure, proc:::exec-success
/FAILED/
{
	self->path = 0;
}
