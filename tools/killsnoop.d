#!/usr/sbin/dtrace -s
/*
 * killsnoop - signals sent by kill() and similar calls
 *
 * USAGE
 *	dtrace -s killsnoop [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only senders of this name (default: all)
 *
 * OUTPUT
 *	UID	user of the sender
 *	PID	the sender
 *	COMM	its name
 *	CALL	kill, tkill or tgkill
 *	SIGNAL	0 only asks whether the process exists
 *	TO	process or thread; negative: a process group
 *	RESULT	0, or why it failed
 *
 * SEE ALSO
 *	sigsnoop, exitsnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%6s %7s %-16s %-6s %-8s %8s %s\n", "UID", "PID", "COMM", "CALL", "SIGNAL", "TO", "RESULT");
}

syscall::kill:entry, syscall::tkill:entry
/WANTED/
{
	self->in = 1;
	self->to = (int)arg0;
	self->sig = (int)arg1;
}

syscall::tgkill:entry
/WANTED/
{
	self->in = 1;
	self->to = (int)arg1;
	self->sig = (int)arg2;
}

syscall::*kill:return
/self->in/
{
	printf("%6d %7d %-16s %-6s %-8s %8d %s\n", uid, pid, execname, probefunc, signal_name[self->sig], self->to,
	    errno_name[errno]);
	self->in = 0;
	self->to = 0;
	self->sig = 0;
}
