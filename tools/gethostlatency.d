#!/usr/sbin/dtrace -s
/*
 * gethostlatency - latency of host name lookups
 *
 * USAGE
 *	dtrace -s gethostlatency [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process
 *	COMM	its name
 *	CALL	getaddrinfo or gethostbyname
 *	LAT(us)	how long it took
 *	RESULT	0: found, else the function's error (EAI_*); of gethostbyname 1: not found
 *	HOST	the name
 *
 * NOTES
 *	Works for programs that use the C library; Go and static programs resolve names themselves.
 *
 * SEE ALSO
 *	soconnect, udptop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option zdefs
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-15s %9s %6s %s\n", "TIME(ms)", "PID", "COMM", "CALL", "LAT(us)", "RESULT", "HOST");
}

pid*:libc.so.6:getaddrinfo:entry, pid*:libc.so.6:gethostbyname:entry
/arg0 && WANTED/
{
	self->start = timestamp;
	self->host = copyinstr(arg0);
}

pid*:libc.so.6:getaddrinfo:return
/self->start/
{
	self->result = (int)arg1;
}

pid*:libc.so.6:gethostbyname:return
/self->start/
{
	self->result = arg1 == 0;
}

pid*:libc.so.6:getaddrinfo:return, pid*:libc.so.6:gethostbyname:return
/self->start/
{
	printf("%10d %7d %-16s %-15s %9d %6d %s\n", (self->start - began) / 1000000, pid, execname, probefunc,
	    (timestamp - self->start) / 1000, self->result, self->host);
	self->start = 0;
	self->host = 0;
	self->result = 0;
}
