#!/usr/sbin/dtrace -s
// run: -e
/*
 * errors.d: failed system calls by name of the error.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;

inline string ename[int e] =
    e == EPERM ? "EPERM" :
    e == ENOENT ? "ENOENT" :
    e == EINTR ? "EINTR" :
    e == EBADF ? "EBADF" :
    e == ECHILD ? "ECHILD" :
    e == EAGAIN ? "EAGAIN" :
    e == EACCES ? "EACCES" :
    e == EEXIST ? "EEXIST" :
    e == ENOTDIR ? "ENOTDIR" :
    e == EISDIR ? "EISDIR" :
    e == EINVAL ? "EINVAL" :
    e == ENOTTY ? "ENOTTY" :
    e == EPIPE ? "EPIPE" :
    e == ENOSYS ? "ENOSYS" : "other";

syscall:::return
/errno != 0 && (NAME == "" || execname == NAME)/
{
	@errs[execname, probefunc, ename[errno], errno] = count();
}

dtrace:::END
{
	printf("%-16s %-16s %-8s %4s %6s\n", "COMM", "CALL", "ERROR", "NO", "COUNT");
	printa("%-16s %-16s %-8s %4d %@6d\n", @errs);
}
