#!/usr/sbin/dtrace -s
/*
 * rwbytype - bytes read and written, by program and type of file
 *
 * USAGE
 *	dtrace -s rwbytype [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	COMM	name of the program
 *	TYPE	file, dir, pipe, socket, char (terminals and other devices), block, other
 *	READS	calls that read
 *	READ	bytes they returned
 *	WRITES	calls that wrote
 *	WRITTEN	bytes they accepted
 *
 * SEE ALSO
 *	rwtop, filetop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortkey
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

inline string TYPE[int m] = m == S_IFREG ? "file" : m == S_IFIFO ? "pipe" : m == S_IFSOCK ? "socket" : m == S_IFCHR ? "char" :
    m == S_IFBLK ? "block" : m == S_IFDIR ? "dir" : "other";

BEGIN
{
	printf("Counting reads and writes... Ctrl-C ends.\n");
}

syscall::read:entry, syscall::readv:entry, syscall::pread*:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite*:entry
/WANTED/
{
	self->fd = arg0 + 1;
}

syscall::*read*:return
/self->fd && errno == 0/
{
	this->mode = getf(self->fd - 1)->f_inode->i_mode & S_IFMT;
	this->type = TYPE[this->mode];
	@rn[execname, this->type] = count();
	@r[execname, this->type] = sum(arg1);
}

syscall::*write*:return
/self->fd && errno == 0/
{
	this->mode = getf(self->fd - 1)->f_inode->i_mode & S_IFMT;
	this->type = TYPE[this->mode];
	@wn[execname, this->type] = count();
	@w[execname, this->type] = sum(arg1);
}

syscall::*read*:return, syscall::*write*:return
{
	self->fd = 0;
}

END
{
	printf("%-16s %-7s %9s %12s %9s %12s\n", "COMM", "TYPE", "READS", "READ", "WRITES", "WRITTEN");
	printa("%-16s %-7s %@9d %@12d %@9d %@12d\n", @rn, @r, @wn, @w);
}
