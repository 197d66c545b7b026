#!/usr/sbin/dtrace -s
/*
 * pyimports - modules that Python programs import, and how long that takes
 *
 * USAGE
 *	dtrace -s pyimports {-p pid | -c command} [ms]
 *
 * ARGUMENTS
 *	ms	show imports that took at least this many milliseconds (default: 0)
 *
 * OUTPUT
 *	PID	process
 *	FOUND	1: the module was found and loaded
 *	LAT(us)	how long it took, including its own imports
 *	MODULE	its name, indented by the depth of nested imports
 *
 * NOTES
 *	Python 3.7 and newer, if it was built with its static probes, as Debian's is. Modules already loaded are not seen.
 *	A line is printed when the import ends, so a module's own imports are above it.
 *
 * SEE ALSO
 *	pygc
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option zdefs

inline int MS = $1;

self int depth;
self uint64_t start[int];

BEGIN
{
	printf("%7s %5s %9s %s\n", "PID", "FOUND", "LAT(us)", "MODULE");
}

python$target:::import-find-load-start
{
	self->start[self->depth] = timestamp;
	self->depth++;
}

python$target:::import-find-load-done
/self->depth > 0/
{
	self->depth--;
	this->t = timestamp - self->start[self->depth];
	self->start[self->depth] = 0;
	this->shown = 1;
}

python$target:::import-find-load-done
/this->shown && this->t >= MS * 1000000/
{
	printf("%7d %5d %9d %*s%s\n", pid, arg1, this->t / 1000, self->depth * 2, "", copyinstr(arg0));
}
