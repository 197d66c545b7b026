#!/usr/sbin/dtrace -s
/*
 * filetop - bytes read and written, by file
 *
 * USAGE
 *	dtrace -s filetop [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two tables (default: 1)
 *	count	how many tables (default: until Ctrl-C)
 *
 * OUTPUT
 *	COMM	name of the program
 *	READ	bytes read
 *	WRITTEN	bytes written
 *	FILE	path of the file
 *
 * NOTES
 *	Regular files only. Memory-mapped reads and writes are not seen.
 *
 * SEE ALSO
 *	rwtop, rwbytype, fsslower
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;
import every;

inline int IS_FILE[int fd] = (getf(fd)->f_inode->i_mode & S_IFMT) == S_IFREG;

BEGIN
{
	printf("%-16s %12s %12s %s\n", "COMM", "READ", "WRITTEN", "FILE");
}

syscall::read:entry, syscall::readv:entry, syscall::pread*:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite*:entry
/tool::wanted/
{
	self->fd = arg0 + 1;
}

syscall::*read*:return
/self->fd && arg1 > 0 && IS_FILE[self->fd - 1]/
{
	@r[execname, fds[self->fd - 1].fi_pathname] = sum(arg1);
}

syscall::*write*:return
/self->fd && arg1 > 0 && IS_FILE[self->fd - 1]/
{
	@w[execname, fds[self->fd - 1].fi_pathname] = sum(arg1);
}

syscall::*read*:return, syscall::*write*:return
{
	self->fd = 0;
}

tick-1s
/every::due($1)/
{
	printf("%Y\n", walltimestamp);
	printa("%-16s %@12d %@12d %s\n", @r, @w);
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
	printa("%-16s %@12d %@12d %s\n", @r, @w);
}
