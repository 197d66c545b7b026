#!/usr/sbin/dtrace -s
/*
 * threadsnoop - new threads, and which thread made them
 *
 * USAGE
 *	dtrace -s threadsnoop [-p pid | -c command] [name [stacks]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	stacks	1: show the user stack of the creating thread (default: 0)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	UID	user
 *	PID	process
 *	COMM	name of the program
 *	TID	the new thread
 *	BY	the thread that made it
 *
 * SEE ALSO
 *	execsnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int STACKS = $2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	began = timestamp;
	printf("%10s %6s %7s %-16s %7s %7s\n", "TIME(ms)", "UID", "PID", "COMM", "TID", "BY");
}

proc:::lwp-create
/WANTED/
{
	printf("%10d %6d %7d %-16s %7d %7d\n", (timestamp - began) / 1000000, uid, pid, execname, args[0]->pr_lwpid, tid);
}

proc:::lwp-create
/WANTED && STACKS/
{
	ustack();
}
