#!/usr/sbin/dtrace -s
// run: -e
/* Lines for a time series database: name, value, seconds since the epoch. */

#pragma D option quiet

syscall::write:entry
/execname == "gcc" || execname == "cc1"/
{
	@writes[execname] = count();
}

tick-1s
{
	printa("dtrace.%s.write %@u", @writes);
	printf(" %lli\n", walltimestamp / 1000000000);
	clear(@writes);
}
