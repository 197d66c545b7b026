#!/usr/sbin/dtrace -s
/*
 * faults - page faults by program, and where
 *
 * USAGE
 *	dtrace -s faults [-p pid | -c command] [name [stacks]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	stacks	number of stacks to show (default: 5)
 *
 * OUTPUT
 *	COMM	name of the program
 *	MINOR	faults that needed no device: first use of memory, or of a page in the cache
 *	COW	writes to a page that was present, mostly copy-on-write
 *	MAJOR	faults that waited for a device
 *	ZERO	zero-filled pages
 *
 * NOTES
 *	After the table: the user stacks with the most faults.
 *
 * SEE ALSO
 *	brkstack, swapin, cachestat
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=5m
#pragma D option ustackframes=16
#pragma D option ustackmerge
#pragma D option aggsortrev
import tool;

inline string NAME = $$1;
inline int STACKS = $2 ? $2 : 5;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Tracing page faults... Ctrl-C ends.\n");
}

vminfo:::as_fault
/WANTED/
{
	@as[execname] = sum(arg0);
	@s[execname, ustack()] = sum(arg0);
}

vminfo:::cow_fault
/WANTED/
{
	@cow[execname] = sum(arg0);
	@s[execname, ustack()] = sum(arg0);
}

vminfo:::maj_fault
/WANTED/
{
	@maj[execname] = sum(arg0);
}

vminfo:::zfod
/WANTED/
{
	@zero[execname] = sum(arg0);
}

END
{
	printf("%-16s %9s %9s %9s %9s\n", "COMM", "MINOR", "COW", "MAJOR", "ZERO");
	printa("%-16s %@9d %@9d %@9d %@9d\n", @as, @cow, @maj, @zero);
	trunc(@s, STACKS);
	printa("\n%s%k%@16d\n", @s);
}
