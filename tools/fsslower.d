#!/usr/sbin/dtrace -s
/*
 * fsslower - slow operations on files
 *
 * USAGE
 *	dtrace -s fsslower [-p pid | -c command] [ms [name]]
 *
 * ARGUMENTS
 *	ms	show operations that took at least this many milliseconds; 0: all (default: 10)
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process
 *	COMM	name of the program
 *	CALL	read, write, fsync ... or open
 *	BYTES	bytes transferred
 *	LAT(us)	how long the call took
 *	FS	type of the file system
 *	FILE	path
 *
 * NOTES
 *	Regular files of all file systems; open() is timed when it succeeds.
 *	The time is that of the system call, including waits for the page cache, for locks and for a CPU.
 *
 * SEE ALSO
 *	syncsnoop, biosnoop, filetop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option zdefs
#pragma D option switchrate=10hz
import tool;

inline int MS = $$1 == "" ? 10 : $1;
inline string NAME = $$2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);
inline int IS_FILE[int fd] = (getf(fd)->f_inode->i_mode & S_IFMT) == S_IFREG;

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-10s %9s %9s %-8s %s\n", "TIME(ms)", "PID", "COMM", "CALL", "BYTES", "LAT(us)", "FS", "FILE");
}

syscall::read:entry, syscall::readv:entry, syscall::pread*:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite*:entry,
syscall::f*sync:entry, syscall::ftruncate:entry, syscall::fallocate:entry
/WANTED/
{
	self->fd = arg0 + 1;
	self->start = timestamp;
}

syscall::open:entry, syscall::openat*:entry
/WANTED/
{
	self->start = timestamp;
}

syscall::open:return, syscall::openat*:return
/self->start && errno == 0/
{
	self->fd = arg1 + 1;
}

syscall:::return
/self->start && timestamp - self->start >= MS * 1000000 && self->fd && IS_FILE[self->fd - 1]/
{
	printf("%10d %7d %-16s %-10s %9d %9d %-8s %s\n", (self->start - began) / 1000000, pid, execname, probefunc,
	    errno || index(probefunc, "open") == 0 ? 0 : (int)arg1, (timestamp - self->start) / 1000,
	    fds[self->fd - 1].fi_fs, fds[self->fd - 1].fi_pathname);
}

syscall:::return
/self->start/
{
	self->fd = 0;
	self->start = 0;
}
