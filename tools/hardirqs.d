#!/usr/sbin/dtrace -s
/*
 * hardirqs - device interrupts: how many, and how long they take
 *
 * USAGE
 *	dtrace -s hardirqs [name]
 *
 * ARGUMENTS
 *	name	only this handler, as in the last column of /proc/interrupts (default: all)
 *
 * OUTPUT
 *	IRQ	number
 *	NAME	handler
 *	COUNT	how often it was called
 *	TOTAL(us)	total time in the handler
 *	MAX(us)	the longest
 *
 * NOTES
 *	Interrupts of the processor itself (timer, calls from other CPUs) have no such handler and are not shown.
 *
 * SEE ALSO
 *	softirqs
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1

inline string NAME = $$1;

uint64_t start[int, int];

BEGIN
{
	printf("Timing interrupts... Ctrl-C ends.\n");
}

sdt:irq::irq_handler_entry
/NAME == "" || stringof(args[1]->name) == NAME/
{
	start[cpu, args[0]] = timestamp;
}

sdt:irq::irq_handler_exit
/start[cpu, args[0]]/
{
	this->t = timestamp - start[cpu, args[0]];
	@n[args[0], stringof(args[1]->name)] = count();
	@t[args[0], stringof(args[1]->name)] = sum(this->t);
	@m[args[0], stringof(args[1]->name)] = max(this->t);
	start[cpu, args[0]] = 0;
}

END
{
	normalize(@t, 1000);
	normalize(@m, 1000);
	printf("%5s %-24s %9s %11s %9s\n", "IRQ", "NAME", "COUNT", "TOTAL(us)", "MAX(us)");
	printa("%5d %-24s %@9d %@11d %@9d\n", @n, @t, @m);
}
