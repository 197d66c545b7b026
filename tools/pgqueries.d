#!/usr/sbin/dtrace -s
/*
 * pgqueries - queries of PostgreSQL, with their times
 *
 * USAGE
 *	dtrace -s pgqueries [-p pid | -c command] [ms [text]]
 *
 * ARGUMENTS
 *	ms	show queries that took at least this many milliseconds (default: 0)
 *	text	0: do not show the text (default: 1)
 *
 * OUTPUT
 *	PID	server process
 *	LAT(us)	from start to end
 *	QUERY	the first line of its text
 *
 * NOTES
 *	Needs a server built with --enable-dtrace, as Debian's is. At the end: queries, and a distribution of the times in
 *	microseconds. Without -p or -c, all running servers and the processes that they start later.
 *
 * SEE ALSO
 *	rediscmds, sslsniff
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option strsize=1024
#pragma D option zdefs
import tool;

inline int MS = $1;
inline int TEXT = $$2 == "" ? 1 : $2;

BEGIN
{
	printf("%7s %10s %s\n", "PID", "LAT(us)", "QUERY");
}

postgresql:::query-start
/tool::wanted/
{
	self->start = timestamp;
}

postgresql:::query-done
/self->start && timestamp - self->start >= MS * 1000000/
{
	printf("%7d %10d %s\n", pid, (timestamp - self->start) / 1000, TEXT ? strtok(copyinstr(arg0), "\n") : "");
}

postgresql:::query-done
/self->start/
{
	@ = count();
	@lat = quantize((timestamp - self->start) / 1000);
	self->start = 0;
}

END
{
	printa("\n%@d queries\n", @);
	printa("us%@d\n", @lat);
}
