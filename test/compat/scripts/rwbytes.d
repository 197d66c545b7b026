#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * rwbytes.d: bytes that processes of a name read and write, by file, in one table.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortkey

inline string NAME = $$1;
self int fd;
inline int IS_FILE = fds[self->fd].fi_fs != "pipefs" && fds[self->fd].fi_fs != "sockfs";

syscall::read:entry,
syscall::write:entry,
syscall::pread64:entry,
syscall::pwrite64:entry
/NAME == "" || execname == NAME/
{
	self->fd = arg0;
	self->called = 1;
}

syscall::read:return,
syscall::pread64:return
/self->called && (ssize_t)arg1 >= 0 && IS_FILE/
{
	@r[fds[self->fd].fi_name, fds[self->fd].fi_dirname] = sum(arg1);
	@rn[fds[self->fd].fi_name, fds[self->fd].fi_dirname] = count();
}

syscall::write:return,
syscall::pwrite64:return
/self->called && (ssize_t)arg1 >= 0 && IS_FILE/
{
	@w[fds[self->fd].fi_name, fds[self->fd].fi_dirname] = sum(arg1);
	@wn[fds[self->fd].fi_name, fds[self->fd].fi_dirname] = count();
}

syscall::read:return,
syscall::write:return,
syscall::pread64:return,
syscall::pwrite64:return
/self->called/
{
	self->fd = 0;
	self->called = 0;
}

END
{
	printf("%-20s %-30s %8s %10s %8s %10s\n", "FILE", "DIRECTORY", "READS", "BYTES", "WRITES", "BYTES");
	printa("%-20s %-30s %@8d %@10d %@8d %@10d\n", @rn, @r, @wn, @w);
}
