#!/usr/sbin/dtrace -s
/*
 * vfsstat - file operations, by interval
 *
 * USAGE
 *	dtrace -s vfsstat [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two lines (default: 1)
 *	count	how many lines (default: until Ctrl-C)
 *
 * OUTPUT
 *	READ	reads, as file systems see them
 *	WRITE	writes
 *	FSYNC	waits for the disk
 *	OPEN	files opened
 *	CREATE	files created
 *
 * NOTES
 *	Needs a kernel whose functions can be traced.
 *
 * SEE ALSO
 *	fsslower, filetop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;
import every;

BEGIN
{
	printf("%9s %9s %9s %9s %9s\n", "READ", "WRITE", "FSYNC", "OPEN", "CREATE");
}

vfs:vop:vop_read:entry
/tool::wanted/
{
	@read = count();
}

vfs:vop:vop_write:entry
/tool::wanted/
{
	@write = count();
}

vfs:vop:vop_fsync:entry
/tool::wanted/
{
	@fsync = count();
}

vfs:vop:vop_open:entry
/tool::wanted/
{
	@open = count();
}

vfs:vop:vop_create:entry
/tool::wanted/
{
	@create = count();
}

tick-1s
/every::due($1)/
{
	printa("%@9d %@9d %@9d %@9d %@9d\n", @read, @write, @fsync, @open, @create);
	clear(@read);
	clear(@write);
	clear(@fsync);
	clear(@open);
	clear(@create);
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	printa("%@9d %@9d %@9d %@9d %@9d\n", @read, @write, @fsync, @open, @create);
}
