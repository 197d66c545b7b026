#!/usr/sbin/dtrace -s
/*
 * brkstack - memory that programs get from the kernel, and where
 *
 * USAGE
 *	dtrace -s brkstack [-p pid | -c command] [name [stacks]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	stacks	number of stacks to show (default: 5)
 *
 * OUTPUT
 *	COMM	name of the program
 *	CALL	brk: the heap grew; mmap: a mapping without a file
 *	CALLS	how often
 *	BYTES	by how much
 *
 * NOTES
 *	After the table: the user stacks with the most bytes. This costs far less than tracing malloc(), and shows what grows.
 *
 * SEE ALSO
 *	mallocs, memleak, faults
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option ustackframes=16
#pragma D option ustackmerge
#pragma D option aggsortrev
#pragma D option aggsortpos=1
import tool;

inline string NAME = $$1;
inline int STACKS = $2 ? $2 : 5;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Tracing the growth of memory... Ctrl-C ends.\n");
}

syscall::brk:entry
/arg0 && WANTED/
{
	self->was = curthread->mm->brk;
}

syscall::brk:return
/self->was && arg1 > self->was/
{
	@n[execname, "brk"] = count();
	@b[execname, "brk"] = sum(arg1 - self->was);
	@s[execname, ustack()] = sum(arg1 - self->was);
}

syscall::brk:return
{
	self->was = 0;
}

syscall::mmap:entry
/arg3 & MAP_ANON && arg2 && WANTED/
{
	self->size = arg1;
}

syscall::mmap:return
/self->size && errno == 0/
{
	@n[execname, "mmap"] = count();
	@b[execname, "mmap"] = sum(self->size);
	@s[execname, ustack()] = sum(self->size);
}

syscall::mmap:return
{
	self->size = 0;
}

END
{
	printf("%-16s %-5s %9s %14s\n", "COMM", "CALL", "CALLS", "BYTES");
	printa("%-16s %-5s %@9d %@14d\n", @n, @b);
	trunc(@s, STACKS);
	printa("\n%s%k%@16d\n", @s);
}
