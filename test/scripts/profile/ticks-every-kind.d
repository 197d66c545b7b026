#!/usr/sbin/dtrace -s
// run: -e
/* Every way to write an interval. */

tick-1, tick-10hz, tick-500us, tick-500usec, tick-10ms, tick-10msec, tick-1s, tick-1sec, tick-1m, tick-1min,
tick-1h, tick-1hour, tick-1d, tick-1day, tick-1000000ns, tick-1000000nsec
{
	@[probename] = count();
}

profile-97, profile-199hz, profile:::profile-1ms, profile-1sec
{
	@p[probename, cpu] = count();
}
