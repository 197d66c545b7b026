#!/usr/sbin/dtrace -s
/*
 * offcputime - what threads wait for: stacks, with the time off the CPU
 *
 * USAGE
 *	dtrace -s offcputime [-p pid | -c command] [name [us]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	us	leave out waits that are shorter, in microseconds (default: 0)
 *
 * OUTPUT
 *	Kernel stack, user stack, name of the program, and microseconds off the CPU with these stacks; the longest last.
 *
 * NOTES
 *	Includes the time that a runnable thread waits for a CPU; runqlat shows that part.
 *	A flame graph: dtrace -O flamegraph -o offcputime.html -s offcputime
 *
 * SEE ALSO
 *	wakeuptime, profile, runqlat
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=16m
#pragma D option stackframes=64
#pragma D option ustackframes=64
#pragma D option ustackmerge
import tool;

inline string NAME = $$1;
inline int US = $2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Tracing time off CPUs... Ctrl-C ends.\n");
}

sched:::off-cpu
/pid && WANTED/
{
	self->off = timestamp;
}

sched:::on-cpu
/self->off && timestamp - self->off >= US * 1000/
{
	@[stack(), ustack(), execname] = sum(timestamp - self->off);
}

sched:::on-cpu
{
	self->off = 0;
}

END
{
	normalize(@, 1000);
	printa("%k%k              %s\n%@16d\n", @);
}
