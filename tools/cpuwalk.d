#!/usr/sbin/dtrace -s
/*
 * cpuwalk - on which CPUs programs run, and for how long
 *
 * USAGE
 *	dtrace -s cpuwalk [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	CPU	the CPU
 *	RUNS	how often it got that CPU
 *	TIME(us)	total time on it
 *
 * SEE ALSO
 *	migrations, cpudist
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortkey
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

self uint64_t since;

BEGIN
{
	printf("Watching CPUs... Ctrl-C ends.\n");
}

sched:::on-cpu
/pid && WANTED/
{
	self->since = timestamp;
}

sched:::off-cpu
/self->since/
{
	@n[pid, execname, cpu] = count();
	@t[pid, execname, cpu] = sum(timestamp - self->since);
	self->since = 0;
}

END
{
	normalize(@t, 1000);
	printf("%7s %-16s %4s %9s %12s\n", "PID", "COMM", "CPU", "RUNS", "TIME(us)");
	printa("%7d %-16s %4d %@9d %@12d\n", @n, @t);
}
