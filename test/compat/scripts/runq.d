#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * runq.d: time between becoming runnable and running, by CPU, and the longest waits.
 */
#pragma D option quiet
#pragma D option dynvarsize=16m

typedef struct wait {
	uint64_t since;
	processorid_t cpu;
} wait_t;

wait_t waits[id_t];

sched:::enqueue
{
	waits[args[0]->pr_lwpid].since = timestamp;
	waits[args[0]->pr_lwpid].cpu = args[2]->cpu_id;
}

sched:::dequeue
/waits[args[0]->pr_lwpid].since/
{
	this->t = timestamp - waits[args[0]->pr_lwpid].since;
	@wait[args[2]->cpu_id] = quantize(this->t / 1000);
	@longest[args[1]->pr_fname, args[0]->pr_clname] = max(this->t / 1000);
	waits[args[0]->pr_lwpid].since = 0;
}

tick-5s
{
	printf("%Y\n", walltimestamp);
	printa("CPU %d (us) %@d", @wait);
	trunc(@longest, 10);
	printa("  %-16s %-4s %@8d us\n", @longest);
	trunc(@wait);
	trunc(@longest);
}
