#!/usr/sbin/dtrace -s
/*
 * exitsnoop - processes that end: how, and after how long
 *
 * USAGE
 *	dtrace -s exitsnoop [-p pid | -c command] [name [failed]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	failed	1: only those that failed or were killed (default: 0)
 *
 * OUTPUT
 *	UID	user
 *	PID	process
 *	PPID	its parent
 *	LIFE(ms)	from its fork to its end
 *	CPU(ms)	CPU time of the thread that ended last
 *	END	exit status, or the signal that killed it
 *	COMM	name of the program
 *
 * SEE ALSO
 *	execsnoop, killsnoop, oomkill
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
	printf("%6s %7s %7s %10s %9s %-8s %s\n", "UID", "PID", "PPID", "LIFE(ms)", "CPU(ms)", "END", "COMM");
}

proc:::exit
/WANTED && (FAILED == 0 || curthread->exit_code != 0)/
{
	this->code = curthread->exit_code;
	printf("%6d %7d %7d %10d %9d %-8s %s\n", uid, pid, ppid, (timestamp - curthread->group_leader->start_time) / 1000000,
	    curthread->se.sum_exec_runtime / 1000000,
	    this->code & 0x7f ? signal_name[this->code & 0x7f] : lltostr(this->code >> 8 & 0xff), execname);
}
