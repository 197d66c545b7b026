#!/usr/sbin/dtrace -s
/*
 * capable - capabilities that the kernel checks, and the results
 *
 * USAGE
 *	dtrace -s capable [-p pid | -c command] [name [denied]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	denied	1: only those that were denied (default: 0)
 *
 * OUTPUT
 *	UID	user
 *	PID	process
 *	COMM	name of the program
 *	CAPABILITY	its name, as in capabilities(7)
 *	ANSWER	granted or denied
 *
 * NOTES
 *	A denial is not always a failure: the kernel also checks for capabilities that a call can do without.
 *	Needs Linux 6.14 or newer, or a kernel whose functions can be traced.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int DENIED = $2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%6s %7s %-16s %-18s %s\n", "UID", "PID", "COMM", "CAPABILITY", "ANSWER");
}

priv:::priv-ok
/WANTED && !DENIED/
{
	printf("%6d %7d %-16s %-18s %s\n", uid, pid, execname, cap_name[args[0]], "granted");
}

priv:::priv-err
/WANTED/
{
	printf("%6d %7d %-16s %-18s %s\n", uid, pid, execname, cap_name[args[0]], "denied");
}
