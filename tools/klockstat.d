#!/usr/sbin/dtrace -s
/*
 * klockstat - waits for kernel locks, and where
 *
 * USAGE
 *	dtrace -s klockstat [-p pid | -c command] [name [stacks]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	stacks	number of stacks to show (default: 5)
 *
 * OUTPUT
 *	KIND	mutex, spin lock, reader-writer lock
 *	COMM	name of the program
 *	WAITS	how often it had to wait
 *	TOTAL(us)	total time
 *	MAX(us)	the longest
 *
 * NOTES
 *	After the table: the stacks with the longest waits, in microseconds.
 *	Taking a free lock is neither traced nor counted.
 *
 * SEE ALSO
 *	futexes, offcputime
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1
#pragma D option stackframes=12
import tool;

inline string NAME = $$1;
inline int STACKS = $2 ? $2 : 5;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Tracing waits for locks of the kernel... Ctrl-C ends.\n");
}

/* waits, -block and -spin: one pattern starts faster than five names */
lockstat:::*-[bs]*
/WANTED/
{
	@n[probename, execname] = count();
	@t[probename, execname] = sum(arg1);
	@m[probename, execname] = max(arg1);
	@s[probename, stack()] = sum(arg1);
}

END
{
	normalize(@t, 1000);
	normalize(@m, 1000);
	normalize(@s, 1000);
	printf("%-16s %-16s %9s %12s %9s\n", "KIND", "COMM", "WAITS", "TOTAL(us)", "MAX(us)");
	printa("%-16s %-16s %@9d %@12d %@9d\n", @n, @t, @m);
	trunc(@s, STACKS);
	printa("\n%s%k%@16d\n", @s);
}
