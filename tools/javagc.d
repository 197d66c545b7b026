#!/usr/sbin/dtrace -s
/*
 * javagc - garbage collections of Java programs
 *
 * USAGE
 *	dtrace -s javagc {-p pid | -c command} [summary]
 *
 * ARGUMENTS
 *	summary	1: only the summary at the end (default: 0)
 *
 * OUTPUT
 *	PID	process
 *	KIND	full or young
 *	LAT(us)	how long it took
 *
 * NOTES
 *	HotSpot (OpenJDK), if it was built with its static probes, as Debian's is.
 *	At the end: collections and a distribution of the times in microseconds.
 *
 * SEE ALSO
 *	javathreads, pygc
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option zdefs

inline int SUMMARY = $1;

BEGIN
{
	printf("%7s %-5s %9s\n", "PID", "KIND", "LAT(us)");
}

hotspot$target:::gc-begin
{
	start = timestamp;
	full = arg0;
}

hotspot$target:::gc-end
/start && !SUMMARY/
{
	printf("%7d %-5s %9d\n", pid, full ? "full" : "young", (timestamp - start) / 1000);
}

hotspot$target:::gc-end
/start/
{
	@n[full ? "full" : "young"] = count();
	@lat = quantize((timestamp - start) / 1000);
	start = 0;
}

END
{
	printf("\n%-5s %9s\n", "KIND", "COUNT");
	printa("%-5s %@9d\n", @n);
	printa("us%@d\n", @lat);
}
