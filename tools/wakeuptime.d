#!/usr/sbin/dtrace -s
/*
 * wakeuptime - what wakes sleeping threads: the waker's stack, with the time slept
 *
 * USAGE
 *	dtrace -s wakeuptime [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only sleepers of this name (default: all)
 *
 * OUTPUT
 *	Kernel stack and user stack of the waker, its name, the sleeper's name, and microseconds slept; the longest last.
 *
 * NOTES
 *	The waker is the thread that runs at the wake-up; a timer or disk interrupt can hit any thread.
 *	With -p or -c: sleepers of that process and its descendants.
 *	A flame graph: dtrace -O flamegraph -o wakeuptime.html -s wakeuptime
 *
 * SEE ALSO
 *	offcputime
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=16m
#pragma D option stackframes=32
#pragma D option ustackframes=32
#pragma D option ustackmerge
#pragma D option dynvarsize=4m
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

uint64_t slept[id_t];

BEGIN
{
	printf("Tracing wake-ups... Ctrl-C ends.\n");
}

sched:::sleep
/pid && WANTED/
{
	slept[tid] = timestamp;
}

sched:::wakeup
/slept[args[0]->pr_lwpid]/
{
	@[stack(), ustack(), execname, args[1]->pr_fname] = sum(timestamp - slept[args[0]->pr_lwpid]);
	slept[args[0]->pr_lwpid] = 0;
}

END
{
	normalize(@, 1000);
	printa("%k%k              %s wakes %s\n%@16d\n", @);
}
