#!/usr/sbin/dtrace -s
/*
 * cachestat - page cache hits and misses
 *
 * USAGE
 *	dtrace -s cachestat [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two lines (default: 1)
 *	count	how many lines (default: until Ctrl-C)
 *
 * OUTPUT
 *	READS	lookups in the page cache by read() and similar calls; a long read makes several
 *	HIT%	share of them that found everything in memory
 *	ADDED	pages added to the cache, including those read ahead and those written for the first time
 *	DIRTIED	folios of the cache that were changed and must be written back
 *
 * NOTES
 *	Reads of memory-mapped files are not among READS.
 *	Needs Linux 6.10 or newer.
 *
 * SEE ALSO
 *	filetop, faults
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;
import every;

/* A large folio has its order in the second page. */
inline int IS_LARGE[struct folio *f] = ((f->flags.f ?? f->flags) >> PG_head) & 1;

BEGIN
{
	printf("%9s %6s %9s %9s\n", "READS", "HIT%", "ADDED", "DIRTIED");
}

syscall::read:entry, syscall::readv:entry, syscall::pread*:entry
{
	self->missed = 0;
}

sdt:filemap::mm_filemap_add_to_page_cache
/tool::wanted/
{
	self->missed = 1;
	@added = sum(IS_LARGE[args[0]] ? 1 << (args[0]->_flags_1 & 0xff) : 1);
}

sdt:filemap::mm_filemap_get_pages
/tool::wanted/
{
	@reads = count();
	@hit = avg(self->missed ? 0 : 100);
	self->missed = 0;
}

sdt:writeback::writeback_dirty_folio
/tool::wanted/
{
	@dirtied = count();
}

tick-1s
/every::due($1)/
{
	printa("%@9d %@6d %@9d %@9d\n", @reads, @hit, @added, @dirtied);
	trunc(@reads);
	trunc(@hit);
	trunc(@added);
	trunc(@dirtied);
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	printa("%@9d %@6d %@9d %@9d\n", @reads, @hit, @added, @dirtied);
}
