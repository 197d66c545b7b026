#!/usr/sbin/dtrace -s
/*
 * mountsnoop - mounts and unmounts of file systems
 *
 * USAGE
 *	dtrace -s mountsnoop [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process
 *	COMM	name of the program
 *	MNTNS	mount namespace
 *	ERR	0, or why it failed
 *	CALL	mount, umount2 or move_mount; source, directory, type, flags; -: there is none
 *
 * NOTES
 *	A mount by fsopen(), fsmount() and move_mount() shows as the last of these calls.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%7s %-16s %11s %-8s %s\n", "PID", "COMM", "MNTNS", "ERR", "CALL");
}

syscall::mount:entry
/WANTED/
{
	self->from = arg0;
	self->to = arg1;
	self->type = arg2;
	self->flags = arg3;
}

syscall::umount2:entry
/WANTED/
{
	self->to = arg0;
	self->flags = arg1;
}

syscall::move_mount:entry
/WANTED/
{
	self->from = arg1;
	self->to = arg3;
	self->flags = arg4;
}

syscall::*mount*:return
/self->to/
{
	printf("%7d %-16s %11d %-8s %s %s %s %s 0x%x\n", pid, execname, mntns, errno_name[errno], probefunc,
	    self->from ? copyinstr(self->from) : "-", copyinstr(self->to), self->type ? copyinstr(self->type) : "-", self->flags);
	self->from = 0;
	self->to = 0;
	self->type = 0;
	self->flags = 0;
}
