#!/usr/sbin/dtrace -s
// run: -q only two
// status: 1
/*
 * usage.d: a script that says how it is called when it is called wrong.
 */
#pragma D option defaultargs

inline string FIRST = $$1;
inline string SECOND = $$2;

BEGIN
/FIRST == "" || $$3 == ""/
{
	printf("usage: %s first second third\n", "usage.d");
	printf("  first is \"%s\", second \"%s\", third \"%s\"\n", FIRST, SECOND, $$3);
	failed = 1;
}

BEGIN
/!failed/
{
	printf("never\n");
}

BEGIN
{
	exit(failed);
}
