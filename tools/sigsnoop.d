#!/usr/sbin/dtrace -s
/*
 * sigsnoop - every signal that is sent, by processes and by the kernel
 *
 * USAGE
 *	dtrace -s sigsnoop [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only senders of this name (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process on whose behalf it is sent: the kernel sends SIGCHLD as the child that ends, SIGSEGV as the process itself
 *	COMM	its name
 *	SIGNAL	name of the signal
 *	TO	receiver
 *	NAME	its name
 *
 * NOTES
 *	killsnoop shows the calls and their results; sigsnoop shows what is really sent, to each process of a group.
 *
 * SEE ALSO
 *	killsnoop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-8s %7s %s\n", "TIME(ms)", "PID", "COMM", "SIGNAL", "TO", "NAME");
}

proc:::signal-send
/WANTED/
{
	printf("%10d %7d %-16s %-8s %7d %s\n", (timestamp - began) / 1000000, pid, execname, signal_name[args[2]],
	    args[1]->pr_pid, args[1]->pr_fname);
}
