#!/usr/sbin/dtrace -s
// run: -e
/* Which programs are on the CPU? Kernel time and user time apart. */

profile-997hz
/arg1/
{
	@user[execname, pid] = count();
}

profile-997
/arg0/
{
	@kernel[execname, pid] = count();
}

profile:::profile-997
{
	@percpu[cpu] = count();
}
