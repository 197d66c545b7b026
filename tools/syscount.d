#!/usr/sbin/dtrace -s
/*
 * syscount - system calls by process and by call
 *
 * USAGE
 *	dtrace -s syscount [-p pid | -c command] [name [rows]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	rows	number of rows to show in each table (default: 20)
 *
 * OUTPUT
 *	COUNT	calls
 *	CALL	name of the call
 *	PID	process
 *	COMM	name of the program
 *
 * SEE ALSO
 *	procsystime, errinfo
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;

inline string NAME = $$1;
inline int ROWS = $2 ? $2 : 20;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Counting system calls... Ctrl-C ends.\n");
}

syscall:::entry
/WANTED/
{
	@calls[probefunc] = count();
	@who[pid, execname] = count();
	@all = count();
}

END
{
	trunc(@calls, ROWS);
	trunc(@who, ROWS);
	printf("%10s %s\n", "COUNT", "CALL");
	printa("%@10d %s\n", @calls);
	printf("\n%10s %7s %s\n", "COUNT", "PID", "COMM");
	printa("%@10d %7d %s\n", @who);
	printa("\n%@10d in all\n", @all);
}
