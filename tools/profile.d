#!/usr/sbin/dtrace -s
/*
 * profile - where CPUs spend their time: stacks, 99 times a second
 *
 * USAGE
 *	dtrace -s profile [-p pid | -c command] [name [kind [seconds]]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	kind	0: user and kernel stacks, 1: user stacks only, 2: kernel stacks only (default: 0)
 *	seconds	how long (default: until Ctrl-C)
 *
 * OUTPUT
 *	Kernel stack, user stack, name of the program, and number of samples; the most frequent last.
 *
 * NOTES
 *	The idle CPU is left out.
 *	A flame graph: dtrace -O flamegraph -o profile.html -s profile
 *
 * SEE ALSO
 *	hotuser, hotkernel, offcputime
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=16m
#pragma D option stackframes=64
#pragma D option ustackframes=64
#pragma D option ustackmerge
import tool;

inline string NAME = $$1;
inline int KIND = $2;
inline int SECONDS = $3;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

int seconds;

BEGIN
{
	printf("Sampling at 99 Hz... Ctrl-C ends.\n");
}

profile-99
/KIND == 0 && pid && WANTED/
{
	@both[stack(), ustack(), execname] = count();
}

profile-99
/KIND == 1 && pid && WANTED/
{
	@user[ustack(), execname] = count();
}

profile-99
/KIND == 2 && pid && WANTED/
{
	@kernel[stack(), execname] = count();
}

profile-99
/pid && WANTED/
{
	@all = count();
}

tick-1s
/SECONDS && ++seconds == SECONDS/
{
	exit(0);
}

END
{
	printa("%k%k              %s\n%@16d\n", @both);
	printa("%k              %s\n%@16d\n", @user);
	printa("%k              %s\n%@16d\n", @kernel);
	printa("%@d samples\n", @all);
}
