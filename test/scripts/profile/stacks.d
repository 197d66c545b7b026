#!/usr/sbin/dtrace -s
// run: -e
/* Samples for a flame graph: kernel and user stacks, ten seconds long. */

#pragma D option quiet
#pragma D option stackframes=100
#pragma D option ustackframes=100

profile:::profile-97
/arg0 && pid != 0/
{
	@[stack(), ustack(), execname] = count();
}

profile:::profile-97
/arg1/
{
	@u[execname, ustack(30), tid] = count();
}

profile:::tick-10s
{
	printa("%k%k%s\n%@d\n", @);
	exit(0);
}
