#!/usr/sbin/dtrace -s
/*
 * biolatency - how long disks take, as distributions
 *
 * USAGE
 *	dtrace -s biolatency [-p pid | -c command] [disk [interval]]
 *
 * ARGUMENTS
 *	disk	only this one, as in /proc/diskstats (default: all)
 *	interval	seconds between two outputs; 0: one output at the end (default: 0)
 *
 * OUTPUT
 *	A distribution in microseconds for each disk, reads and writes separately.
 *
 * NOTES
 *	Measured from when the driver gets a request until it completes; time in a queue before that is not included.
 *	With -p or -c: requests that the process itself issues, not what is written back for it later.
 *
 * SEE ALSO
 *	biosnoop, bitesize
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=4m
import tool;

inline string DISK = $$1;
inline int INTERVAL = $2 ? $2 : 1000000000;	/* never */

int seconds;
uint64_t start[uintptr_t, uintptr_t];

BEGIN
{
	printf("Timing disks... Ctrl-C ends.\n");
}

io:::start
/tool::wanted && (DISK == "" || args[1]->dev_statname == DISK)/
{
	start[arg0, arg2] = timestamp;
}

io:::done
/start[arg0, arg2]/
{
	@[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] =
	    quantize((timestamp - start[arg0, arg2]) / 1000);
	start[arg0, arg2] = 0;
}

tick-1s
/++seconds % INTERVAL == 0/
{
	printf("%Y\n", walltimestamp);
	printa("%s, %s, us%@d\n", @);
	trunc(@);
}

END
{
	printa("%s, %s, us%@d\n", @);
}
