#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * priorities.d: changes of priority, and which threads wake which.
 */
#pragma D option quiet

inline pri_t REALTIME = 0;

sched:::change-pri
{
	printf("%Y %s[%d] %d -> %d%s\n", walltimestamp, args[1]->pr_fname, args[0]->pr_lwpid, args[0]->pr_pri, args[2],
	    args[2] < REALTIME ? " (real-time)" : "");
	@[args[1]->pr_pid] = lquantize(args[2], -100, 40, 10);
}

sched:::wakeup
{
	@wakes[execname, args[1]->pr_fname] = count();
	@class[args[0]->pr_clname] = count();
}

tick-10s
{
	trunc(@wakes, 20);
	printa("%-16s wakes %-16s %@d\n", @wakes);
	printa("class %-4s %@d\n", @class);
	trunc(@wakes);
	clear(@class);
}
