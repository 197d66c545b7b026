#!/usr/sbin/dtrace -s
/*
 * memleak - memory that a process allocates and does not free, by caller
 *
 * USAGE
 *	dtrace -s memleak {-p pid | -c command}
 *
 * OUTPUT
 *	BYTES	allocated since tracing began, and still held
 *	PIECES	number of allocations
 *	CALLER	caller of malloc(), calloc() or realloc()
 *
 * NOTES
 *	Memory that is held is not always leaked: look for what grows. mallocs shows whole stacks, of all allocations.
 *	Functions of the C library. About 100,000 allocations are followed at a time; beyond that, dynamic variable drops
 *	are reported.
 *
 * SEE ALSO
 *	mallocs, brkstack
 */
#pragma D option quiet
#pragma D option dynvarsize=16m
#pragma D option aggsortrev

size_t size[uintptr_t];
uint64_t from[uintptr_t];

BEGIN
{
	printf("Tracing what process %d allocates... Ctrl-C ends.\n", $target);
}

pid$target:libc.so.6:malloc:entry
{
	self->size = arg0;
}

pid$target:libc.so.6:calloc:entry
{
	self->size = arg0 * arg1;
}

pid$target:libc.so.6:realloc:entry
{
	self->size = arg1;
	self->old = arg0;
}

/* one pattern for malloc, calloc and realloc starts faster than three names */
pid$target:libc.so.6:[mcr]*alloc:entry
{
	self->from = ENTRY_CALLER;
}

pid$target:libc.so.6:free:entry
/size[arg0]/
{
	@bytes[uaddr(from[arg0])] = sum(-size[arg0]);
	@pieces[uaddr(from[arg0])] = sum(-1);
	@all = sum(-size[arg0]);
	size[arg0] = 0;
	from[arg0] = 0;
}

/* it failed if NULL was returned for a size above 0; the old block is still allocated then */
pid$target:libc.so.6:realloc:return
/self->old && size[self->old] && (arg1 || self->size == 0)/
{
	@bytes[uaddr(from[self->old])] = sum(-size[self->old]);
	@pieces[uaddr(from[self->old])] = sum(-1);
	@all = sum(-size[self->old]);
	size[self->old] = 0;
	from[self->old] = 0;
}

pid$target:libc.so.6:[mcr]*alloc:return
/self->size && arg1/
{
	size[arg1] = self->size;
	from[arg1] = self->from;
	@bytes[uaddr(self->from)] = sum(self->size);
	@pieces[uaddr(self->from)] = sum(1);
	@all = sum(self->size);
}

pid$target:libc.so.6:[mcr]*alloc:return
{
	self->size = 0;
	self->old = 0;
	self->from = 0;
}

END
{
	printf("%12s %9s %s\n", "BYTES", "PIECES", "CALLER");
	printa("%@12d %@9d %A\n", @bytes, @pieces);
	printa("%@12d in all\n", @all);
}
