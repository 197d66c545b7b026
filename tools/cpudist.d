#!/usr/sbin/dtrace -s
/*
 * cpudist - how long threads run each time they get a CPU
 *
 * USAGE
 *	dtrace -s cpudist [-p pid | -c command] [name [off]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	off	1: how long they are off the CPU instead (default: 0)
 *
 * OUTPUT
 *	A distribution in microseconds for each program.
 *
 * SEE ALSO
 *	runqlat, offcputime, cpuwalk
 */
#pragma D option quiet
#pragma D option defaultargs
import tool;

inline string NAME = $$1;
inline int OFF = $2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

self uint64_t since;

BEGIN
{
	printf("Measuring times %s CPUs... Ctrl-C ends.\n", OFF ? "off" : "on");
}

sched:::off-cpu
/self->since && !OFF/
{
	@[execname] = quantize((timestamp - self->since) / 1000);
	self->since = 0;
}

sched:::on-cpu
/self->since && OFF/
{
	@[execname] = quantize((timestamp - self->since) / 1000);
	self->since = 0;
}

sched:::on-cpu
/!OFF && pid && WANTED/
{
	self->since = timestamp;
}

sched:::off-cpu
/OFF && pid && WANTED/
{
	self->since = timestamp;
}

END
{
	printa("%s, us%@d\n", @);
}
