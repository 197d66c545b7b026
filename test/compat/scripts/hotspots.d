#!/usr/sbin/dtrace -s
// run: -e
/*
 * hotspots.d: what CPUs do, kernel and user apart, by sampling.
 *
 *	hotspots.d [SECONDS]
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option ustackframes=5

inline int SECONDS = $1 ? $1 : 10;

BEGIN
{
	left = SECONDS;
}

profile-997
{
	samples++;
	@mode[cpu, arg0 ? "kernel" : arg1 ? "user" : "idle"] = count();
}

profile-997
/arg0 && pid != 0/
{
	@kernel[func(arg0)] = count();
	@by[execname] = count();
}

profile-997
/arg1/
{
	@user[execname, usym(arg1)] = count();
	@stacks[execname, ustack()] = count();
}

tick-1s
/--left == 0/
{
	exit(0);
}

END
{
	printf("%d samples\n", samples);
	printa("CPU %d %-8s %@d\n", @mode);
	trunc(@kernel, 10);
	trunc(@user, 10);
	trunc(@stacks, 3);
	printa("%-40a %@8d\n", @kernel);
	printa("%-16s %-40A %@8d\n", @user);
	printa("%s%k%@d\n", @stacks);
}
