#!/usr/sbin/dtrace -s
/*
 * javathreads - threads of a Java program that start and end
 *
 * USAGE
 *	dtrace -s javathreads {-p pid | -c command}
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	WHAT	start or stop
 *	ID	Java's number for the thread
 *	TID	thread id of the system
 *	DAEMON	1: a daemon thread
 *	NAME	its name
 *
 * NOTES
 *	HotSpot (OpenJDK), if it was built with its static probes, as Debian's is.
 *
 * SEE ALSO
 *	javagc, threadsnoop
 */
#pragma D option quiet
#pragma D option switchrate=10hz
#pragma D option zdefs

BEGIN
{
	began = timestamp;
	printf("%10s %-5s %6s %7s %6s %s\n", "TIME(ms)", "WHAT", "ID", "TID", "DAEMON", "NAME");
}

hotspot$target:::thread-start, hotspot$target:::thread-stop
{
	printf("%10d %-5s %6d %7d %6d %s\n", (timestamp - began) / 1000000, probename == "thread-start" ? "start" : "stop", arg2,
	    arg3, arg4, copyinstr(arg0, arg1));
}
