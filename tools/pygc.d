#!/usr/sbin/dtrace -s
/*
 * pygc - garbage collections of Python programs
 *
 * USAGE
 *	dtrace -s pygc {-p pid | -c command} [summary]
 *
 * ARGUMENTS
 *	summary	1: only the summary at the end (default: 0)
 *
 * OUTPUT
 *	PID	process
 *	GEN	generation that is collected
 *	LAT(us)	how long it took
 *	FREED	objects that were freed
 *
 * NOTES
 *	Python 3.6 and newer, if it was built with its static probes, as Debian's is.
 *	At the end: collections, objects and a distribution of the times in microseconds.
 *
 * SEE ALSO
 *	pyimports, javagc
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option zdefs

inline int SUMMARY = $1;

BEGIN
{
	printf("%7s %3s %9s %9s\n", "PID", "GEN", "LAT(us)", "FREED");
}

python$target:::gc-start
{
	self->start = timestamp;
	self->gen = arg0;
}

python$target:::gc-done
/self->start && !SUMMARY/
{
	printf("%7d %3d %9d %9d\n", pid, self->gen, (timestamp - self->start) / 1000, arg0);
}

python$target:::gc-done
/self->start/
{
	@n[self->gen] = count();
	@freed[self->gen] = sum(arg0);
	@lat = quantize((timestamp - self->start) / 1000);
	self->start = 0;
	self->gen = 0;
}

END
{
	printf("\n%3s %9s %9s\n", "GEN", "COUNT", "FREED");
	printa("%3d %@9d %@9d\n", @n, @freed);
	printa("us%@d\n", @lat);
}
