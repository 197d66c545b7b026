#!/usr/sbin/dtrace -s
/*
 * rwtop - bytes read and written, by process
 *
 * USAGE
 *	dtrace -s rwtop [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two tables (default: 1)
 *	count	how many tables (default: until Ctrl-C)
 *
 * OUTPUT
 *	PID	process
 *	COMM	name of the program
 *	READ	bytes that read() and similar calls returned
 *	WRITTEN	bytes that write() and similar calls accepted
 *
 * NOTES
 *	These are the bytes of the calls, whatever they are for: files, pipes, terminals, sockets. What is sent by
 *	send() or mapped into memory is not among them.
 *
 * SEE ALSO
 *	filetop, rwbytype, biotop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;
import every;

BEGIN
{
	printf("%7s %-16s %12s %12s\n", "PID", "COMM", "READ", "WRITTEN");
}

sysinfo:::readch
/tool::wanted/
{
	@r[pid, execname] = sum(arg0);
}

sysinfo:::writech
/tool::wanted/
{
	@w[pid, execname] = sum(arg0);
}

tick-1s
/every::due($1)/
{
	printf("%Y\n", walltimestamp);
	printa("%7d %-16s %@12d %@12d\n", @r, @w);
	trunc(@r);
	trunc(@w);
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	printa("%7d %-16s %@12d %@12d\n", @r, @w);
}
