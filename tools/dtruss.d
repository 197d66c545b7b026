#!/usr/sbin/dtrace -s
/*
 * dtruss - every system call of a process, with its arguments, result and time
 *
 * USAGE
 *	dtrace -s dtruss {-p pid | -c command} [call]
 *
 * ARGUMENTS
 *	call	only this system call (default: all)
 *
 * OUTPUT
 *	PID/TID	process and thread
 *	TIME(us)	from entry to return
 *	CALL	name and first three arguments, as numbers
 *	RESULT	value, or the error
 *
 * NOTES
 *	Unlike strace(1) it does not stop the process. With -p or -c, the process and its
 *	descendants are shown; otherwise every process.
 *	Calls that do not return (exit_group, a successful execve) are not shown.
 *
 * SEE ALSO
 *	syscount, errinfo
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz

inline string CALL = $$1;
inline int WANTED = ($target == 0 ? pid != $pid : progenyof($target)) && (CALL == "" || probefunc == CALL);

BEGIN
{
	printf("%15s %9s %s\n", "PID/TID", "TIME(us)", "CALL = RESULT");
}

syscall:::entry
/WANTED/
{
	self->start = timestamp;
	self->arg0 = arg0;
	self->arg1 = arg1;
	self->arg2 = arg2;
}

syscall:::return
/self->start/
{
	printf("%7d/%-7d %9d %s(0x%x, 0x%x, 0x%x) = %s\n", pid, tid, (timestamp - self->start) / 1000, probefunc,
	    self->arg0, self->arg1, self->arg2, errno ? errno_name[errno] : arg1 >> 32 ? lltostr(arg1, 16) : lltostr(arg1));
	self->start = 0;
	self->arg0 = 0;
	self->arg1 = 0;
	self->arg2 = 0;
}
