#!/usr/sbin/dtrace -s
/*
 * runqslower - threads that waited long for a CPU
 *
 * USAGE
 *	dtrace -s runqslower [-p pid | -c command] [us [name]]
 *
 * ARGUMENTS
 *	us	show waits of at least this many microseconds; 0: all (default: 10000)
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	CPU	the CPU it ran on
 *	TID	the thread
 *	COMM	name of the program
 *	WAIT(us)	from when it becomes runnable until it runs
 *
 * SEE ALSO
 *	runqlat
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option dynvarsize=4m
import tool;

inline int US = $$1 == "" ? 10000 : $1;
inline string NAME = $$2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

uint64_t since[id_t];

BEGIN
{
	began = timestamp;
	printf("%10s %3s %7s %-16s %10s\n", "TIME(ms)", "CPU", "TID", "COMM", "WAIT(us)");
}

sched:::enqueue
{
	since[args[0]->pr_lwpid] = timestamp;
}

sched:::on-cpu
/since[tid] && timestamp - since[tid] >= US * 1000 && WANTED/
{
	printf("%10d %3d %7d %-16s %10d\n", (timestamp - began) / 1000000, cpu, tid, execname, (timestamp - since[tid]) / 1000);
}

sched:::on-cpu
/since[tid]/
{
	since[tid] = 0;
}
