#!/usr/sbin/dtrace -s
/*
 * swapin - pages read back from swap, by process
 *
 * USAGE
 *	dtrace -s swapin [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two tables (default: 1)
 *	count	how many tables (default: until Ctrl-C)
 *
 * OUTPUT
 *	PID	process that waits for them
 *	COMM	its name
 *	PAGES	pages of 4096 bytes, including those read ahead
 *
 * NOTES
 *	Pages that zswap keeps in memory are not seen.
 *
 * SEE ALSO
 *	faults, drsnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;
import every;

BEGIN
{
	printf("%7s %-16s %9s\n", "PID", "COMM", "PAGES");
}

vminfo:::anonpgin
/tool::wanted/
{
	@[pid, execname] = sum(arg0);
}

tick-1s
/every::due($1)/
{
	printf("%Y\n", walltimestamp);
	printa("%7d %-16s %@9d\n", @);
	trunc(@);
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	printa("%7d %-16s %@9d\n", @);
}
