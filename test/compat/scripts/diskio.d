#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * diskio.d: each transfer with its time, and totals by device and file.
 *
 *	diskio.d [DEVICE]
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=16m

inline string DEVICE = $$1;

uint64_t start[dev_t, uint64_t];
pid_t who[dev_t, uint64_t];
string whose[dev_t, uint64_t];

BEGIN
{
	printf("%10s %-8s %2s %10s %7s %6s %-12s %s\n", "TIME(us)", "DEVICE", "RW", "BLOCK", "BYTES", "PID", "COMM", "FILE");
}

io:::start
/DEVICE == "" || args[1]->dev_statname == DEVICE/
{
	start[args[0]->b_edev, args[0]->b_blkno] = timestamp;
	who[args[0]->b_edev, args[0]->b_blkno] = pid;
	whose[args[0]->b_edev, args[0]->b_blkno] = execname;
}

io:::done
/start[args[0]->b_edev, args[0]->b_blkno]/
{
	this->us = (timestamp - start[args[0]->b_edev, args[0]->b_blkno]) / 1000;
	printf("%10d %-8s %2s %10d %7d %6d %-12s %s\n", this->us, args[1]->dev_statname,
	    args[0]->b_flags & B_READ ? "R" : "W", args[0]->b_blkno, args[0]->b_bcount,
	    who[args[0]->b_edev, args[0]->b_blkno], whose[args[0]->b_edev, args[0]->b_blkno], args[2]->fi_pathname);
	@time[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] = avg(this->us);
	@bytes[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] = sum(args[0]->b_bcount);
	@errors[args[1]->dev_statname, args[0]->b_error] = count();
	start[args[0]->b_edev, args[0]->b_blkno] = 0;
	who[args[0]->b_edev, args[0]->b_blkno] = 0;
	whose[args[0]->b_edev, args[0]->b_blkno] = 0;
}

END
{
	printf("\n%-10s %-6s %12s %12s\n", "DEVICE", "", "AVERAGE(us)", "BYTES");
	printa("%-10s %-6s %@12d %@12d\n", @time, @bytes);
}
