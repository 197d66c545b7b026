#!/usr/sbin/dtrace -s
/*
 * oomkill - processes that are killed because memory ran out
 *
 * USAGE
 *	dtrace -s oomkill [name]
 *
 * ARGUMENTS
 *	name	only victims of this name (default: all)
 *
 * OUTPUT
 *	TIME	time of day
 *	BY	process that needed memory, and its name
 *	VICTIM	process that is killed, and its name
 *	VSZ(kB)	size of its address space
 *	ADJ	its oom_score_adj
 *
 * NOTES
 *	Needs Linux 6.10 or newer; older kernels report only the victim's process id.
 *
 * SEE ALSO
 *	exitsnoop, drsnoop, swapin
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz

inline string NAME = $$1;

BEGIN
{
	printf("%-20s %7s %-16s %7s %-16s %10s %5s\n", "TIME", "BY", "COMM", "VICTIM", "COMM", "VSZ(kB)", "ADJ");
}

sdt:oom::mark_victim
/NAME == "" || stringof(args[0]->comm) == NAME/
{
	printf("%-20Y %7d %-16s %7d %-16s %10d %5d\n", walltimestamp, pid, execname, args[0]->tgid, stringof(args[0]->comm),
	    args[0]->mm->total_vm * 4, args[0]->signal->oom_score_adj);
}
