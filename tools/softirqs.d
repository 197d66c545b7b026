#!/usr/sbin/dtrace -s
/*
 * softirqs - soft interrupts: how many, and how long they take
 *
 * USAGE
 *	dtrace -s softirqs [dist]
 *
 * ARGUMENTS
 *	dist	1: a distribution of the times as well (default: 0)
 *
 * OUTPUT
 *	NAME	kind, as in /proc/softirqs
 *	COUNT	how often
 *	TOTAL(us)	total time
 *	MAX(us)	the longest
 *
 * SEE ALSO
 *	hardirqs
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1

inline int DIST = $1;
inline string KIND[int v] = v == 0 ? "HI" : v == 1 ? "TIMER" : v == 2 ? "NET_TX" : v == 3 ? "NET_RX" : v == 4 ? "BLOCK" :
    v == 5 ? "IRQ_POLL" : v == 6 ? "TASKLET" : v == 7 ? "SCHED" : v == 8 ? "HRTIMER" : v == 9 ? "RCU" : "other";

uint64_t start[int];

BEGIN
{
	printf("Timing soft interrupts... Ctrl-C ends.\n");
}

sdt:irq::softirq_entry
{
	start[cpu] = timestamp;
}

sdt:irq::softirq_exit
/start[cpu]/
{
	this->t = timestamp - start[cpu];
	@n[KIND[args[0]]] = count();
	@t[KIND[args[0]]] = sum(this->t);
	@m[KIND[args[0]]] = max(this->t);
	start[cpu] = 0;
}

sdt:irq::softirq_exit
/DIST/
{
	@d[KIND[args[0]]] = quantize(this->t);
}

END
{
	normalize(@t, 1000);
	normalize(@m, 1000);
	printf("%-10s %9s %11s %9s\n", "NAME", "COUNT", "TOTAL(us)", "MAX(us)");
	printa("%-10s %@9d %@11d %@9d\n", @n, @t, @m);
	printa("%s, ns%@d\n", @d);
}
