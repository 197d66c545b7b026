#!/usr/sbin/dtrace -s
/*
 * biosnoop - every request to a disk, with its latency
 *
 * USAGE
 *	dtrace -s biosnoop [-p pid | -c command] [disk]
 *
 * ARGUMENTS
 *	disk	only this one, as in /proc/diskstats (default: all)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process that issued it
 *	COMM	its name
 *	DISK	the disk
 *	T	R: read, W: write, F: flush, D: discard
 *	BLOCK	first block of 512 bytes
 *	BYTES	its size
 *	LAT(us)	how long the disk took
 *	FILE	path of the file, if there is one
 *
 * NOTES
 *	Data written to the page cache goes to the disk later, mostly from a kernel thread.
 *
 * SEE ALSO
 *	biolatency, bitesize, biotop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option dynvarsize=8m
import tool;

inline string DISK = $$1;

uint64_t start[uintptr_t, uintptr_t];
string name[uintptr_t, uintptr_t], file[uintptr_t, uintptr_t];
pid_t who[uintptr_t, uintptr_t];

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-8s %1s %12s %8s %9s %s\n", "TIME(ms)", "PID", "COMM", "DISK", "T", "BLOCK", "BYTES",
	    "LAT(us)", "FILE");
}

io:::start
/tool::wanted && (DISK == "" || args[1]->dev_statname == DISK)/
{
	start[arg0, arg2] = timestamp;
	name[arg0, arg2] = execname;
	file[arg0, arg2] = args[2]->fi_pathname;
	who[arg0, arg2] = pid;
}

io:::done
/start[arg0, arg2]/
{
	printf("%10d %7d %-16s %-8s %1s %12d %8d %9d %s\n", (start[arg0, arg2] - began) / 1000000, who[arg0, arg2],
	    name[arg0, arg2], args[1]->dev_statname, args[0]->b_cmd == BIO_READ ? "R" : args[0]->b_cmd == BIO_WRITE ? "W" :
	    args[0]->b_cmd == BIO_FLUSH ? "F" : args[0]->b_cmd == BIO_DELETE ? "D" : "-", args[0]->b_blkno, args[0]->b_bcount,
	    (timestamp - start[arg0, arg2]) / 1000, file[arg0, arg2]);
	start[arg0, arg2] = 0;
	name[arg0, arg2] = 0;
	file[arg0, arg2] = 0;
	who[arg0, arg2] = 0;
}
