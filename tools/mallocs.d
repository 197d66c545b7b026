#!/usr/sbin/dtrace -s
/*
 * mallocs - memory that a process allocates: sizes, and where
 *
 * USAGE
 *	dtrace -s mallocs {-p pid | -c command} [stacks]
 *
 * ARGUMENTS
 *	stacks	number of stacks to show (default: 5)
 *
 * OUTPUT
 *	Calls of malloc(), calloc() and realloc() and the bytes that were asked for; a distribution of the sizes; the
 *	stacks that asked for most, with their bytes.
 *
 * NOTES
 *	Functions of the C library, or of any other object that defines them.
 *	Each call to malloc() costs the process about a microsecond while it is traced.
 *
 * SEE ALSO
 *	memleak, brkstack, faults
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option ustackframes=16
#pragma D option ustackmerge

inline int STACKS = $1 ? $1 : 5;

BEGIN
{
	printf("Tracing malloc() of process %d... Ctrl-C ends.\n", $target);
}

pid$target:libc.so.6:malloc:entry
{
	@n["malloc"] = count();
	@b["malloc"] = sum(arg0);
	@d = quantize(arg0);
	@s[ustack()] = sum(arg0);
}

pid$target:libc.so.6:calloc:entry
{
	@n["calloc"] = count();
	@b["calloc"] = sum(arg0 * arg1);
	@d = quantize(arg0 * arg1);
	@s[ustack()] = sum(arg0 * arg1);
}

pid$target:libc.so.6:realloc:entry
{
	@n["realloc"] = count();
	@b["realloc"] = sum(arg1);
	@d = quantize(arg1);
	@s[ustack()] = sum(arg1);
}

END
{
	printf("%-10s %10s %14s\n", "FUNCTION", "CALLS", "BYTES");
	printa("%-10s %@10d %@14d\n", @n, @b);
	printa("\nbytes%@d\n", @d);
	trunc(@s, STACKS);
	printa("%k%@16d\n", @s);
}
