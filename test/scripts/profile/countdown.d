#!/usr/sbin/dtrace -s
// run: -e
/* Stops by itself: a countdown from ten, as people first write it. */

dtrace:::BEGIN
{
	i = 10;
}

profile:::tick-1sec
/i > 0/
{
	trace(i--);
}

profile:::tick-1sec
/i == 0/
{
	trace("blastoff!");
	exit(0);
}
