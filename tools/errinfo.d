#!/usr/sbin/dtrace -s
/*
 * errinfo - system calls that fail, by program, call and error
 *
 * USAGE
 *	dtrace -s errinfo [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	COMM	name of the program
 *	CALL	name of the call
 *	ERROR	name of the error
 *	COUNT	how often
 *
 * SEE ALSO
 *	syscount, dtruss
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Counting errors of system calls... Ctrl-C ends.\n");
}

syscall:::return
/errno && WANTED/
{
	@[execname, probefunc, errno_name[errno]] = count();
}

END
{
	printf("%-16s %-20s %-16s %8s\n", "COMM", "CALL", "ERROR", "COUNT");
	printa("%-16s %-20s %-16s %@8d\n", @);
}
