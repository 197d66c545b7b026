#!/usr/sbin/dtrace -s
/*
 * runqlat - how long threads wait for a CPU, as a distribution
 *
 * USAGE
 *	dtrace -s runqlat [-p pid | -c command] [name [interval]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	interval	seconds between two outputs; 0: one output at the end (default: 0)
 *
 * OUTPUT
 *	A distribution in microseconds: from when a thread becomes runnable until it runs.
 *
 * SEE ALSO
 *	runqslower, cpudist, offcputime
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=4m
import tool;

inline string NAME = $$1;
inline int INTERVAL = $2 ? $2 : 1000000000;	/* never */
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

int seconds;
uint64_t since[id_t];

BEGIN
{
	printf("Measuring waits for a CPU... Ctrl-C ends.\n");
}

sched:::enqueue
{
	since[args[0]->pr_lwpid] = timestamp;
}

sched:::on-cpu
/since[tid] && WANTED/
{
	@ = quantize((timestamp - since[tid]) / 1000);
}

sched:::on-cpu
/since[tid]/
{
	since[tid] = 0;
}

tick-1s
/++seconds % INTERVAL == 0/
{
	printf("%Y\n", walltimestamp);
	printa("us%@d\n", @);
	clear(@);
}

END
{
	printa("us%@d\n", @);
}
