#!/usr/sbin/dtrace -s
/*
 * shmsnoop - System V shared memory: calls that create, attach and remove segments
 *
 * USAGE
 *	dtrace -s shmsnoop [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	CALL	shmget, shmat, shmdt or shmctl
 *	RESULT	value or error
 *	ARGS	shmget: key, size, flags. shmat: id, address, flags. shmdt: address. shmctl: id, command
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%7s %-16s %-7s %-16s %s\n", "PID", "COMM", "CALL", "RESULT", "ARGS");
}

syscall::shm*:entry
/WANTED/
{
	self->in = 1;
	self->a0 = arg0;
	self->a1 = arg1;
	self->a2 = arg2;
}

syscall::shm*:return
/self->in/
{
	printf("%7d %-16s %-7s %-16s 0x%x 0x%x 0x%x\n", pid, execname, probefunc,
	    errno ? errno_name[errno] : probefunc == "shmat" ? lltostr(arg1, 16) : lltostr(arg1), self->a0, self->a1, self->a2);
	self->in = 0;
	self->a0 = 0;
	self->a1 = 0;
	self->a2 = 0;
}
