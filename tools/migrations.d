#!/usr/sbin/dtrace -s
/*
 * migrations - threads that the scheduler moves from one CPU to another
 *
 * USAGE
 *	dtrace -s migrations [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	FROM	CPU it leaves
 *	TO	CPU it moves to
 *	COUNT	how often
 *
 * NOTES
 *	With -p or -c: threads of that process, not of its descendants (the moved thread is seldom the current one).
 *
 * SEE ALSO
 *	cpuwalk, runqlat
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortkey

inline string NAME = $$1;

BEGIN
{
	printf("Watching threads move... Ctrl-C ends.\n");
}

sdt:sched::sched_migrate_task
/($target == 0 || taskpid(args[0]) == $target) && (NAME == "" || args[0]->comm == NAME)/
{
	@[taskpid(args[0]), stringof(args[0]->comm), args[0]->thread_info.cpu, args[1]] = count();
}

END
{
	printf("%7s %-16s %5s %5s %9s\n", "PID", "COMM", "FROM", "TO", "COUNT");
	printa("%7d %-16s %5d %5d %@9d\n", @);
}
