// run: -e
/* A line per second that a collector of metrics reads. */
#pragma D option quiet

syscall::write:entry
/execname == "dd"/
{
	@writes[execname] = count();
}

tick-1s
{
	printa("dtrace.%s.write %@u", @writes);
	printf(" %lli\n", walltimestamp / 1000000000);
	clear(@writes);
}
