#!/usr/sbin/dtrace -s
// run: -e
/* Files that programs look for in vain, and other errors, by name. */

#pragma D option quiet

inline string err_text[int e] =
	e == 0 ? "ok" :
	e == EPERM ? "EPERM" :
	e == ENOENT ? "ENOENT" :
	e == EINTR ? "EINTR" :
	e == EAGAIN ? "EAGAIN" :
	e == EACCES ? "EACCES" :
	e == EEXIST ? "EEXIST" :
	e == EINVAL ? "EINVAL" :
	"other";

syscall::openat:entry
{
	self->path = copyinstr(arg1);
}

syscall::openat:return
/self->path != NULL && errno/
{
	printf("%-16s %6d %-8s %s\n", execname, pid, err_text[errno], self->path);
	@[err_text[errno]] = count();
}

syscall::openat:return
{
	self->path = 0;
}
