#!/usr/sbin/dtrace -s
/*
 * drsnoop - direct reclaim: processes that must free memory before they get some
 *
 * USAGE
 *	dtrace -s drsnoop [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process
 *	COMM	its name
 *	WHY	memory: the machine ran out of it; group: its control group did
 *	LAT(us)	how long it took
 *	PAGES	pages that were freed
 *
 * SEE ALSO
 *	oomkill, swapin
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-8s %9s %8s\n", "TIME(ms)", "PID", "COMM", "WHY", "LAT(us)", "PAGES");
}

sdt:vmscan::mm_vmscan_direct_reclaim_begin, sdt:vmscan::mm_vmscan_memcg_reclaim_begin
/WANTED/
{
	self->start = timestamp;
}

sdt:vmscan::mm_vmscan_direct_reclaim_end, sdt:vmscan::mm_vmscan_memcg_reclaim_end
/self->start/
{
	printf("%10d %7d %-16s %-8s %9d %8d\n", (self->start - began) / 1000000, pid, execname,
	    probename == "mm_vmscan_memcg_reclaim_end" ? "group" : "memory", (timestamp - self->start) / 1000, arg0);
	self->start = 0;
}
