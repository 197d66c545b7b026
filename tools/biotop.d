#!/usr/sbin/dtrace -s
/*
 * biotop - requests to disks, bytes and time, by process
 *
 * USAGE
 *	dtrace -s biotop [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two tables (default: 1)
 *	count	how many tables (default: until Ctrl-C)
 *
 * OUTPUT
 *	PID	process that issued them
 *	COMM	its name
 *	DISK	the disk
 *	T	R: read, W: write and others
 *	IOS	requests completed
 *	BYTES	their bytes
 *	AVG(us)	average latency
 *
 * SEE ALSO
 *	biosnoop, rwtop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option dynvarsize=8m
#pragma D option aggsortrev
#pragma D option aggsortpos=1
import tool;
import every;

uint64_t start[uintptr_t, uintptr_t];
string name[uintptr_t, uintptr_t];
pid_t who[uintptr_t, uintptr_t];
this string type;

BEGIN
{
	printf("%7s %-16s %-8s %1s %8s %12s %9s\n", "PID", "COMM", "DISK", "T", "IOS", "BYTES", "AVG(us)");
}

io:::start
/tool::wanted/
{
	start[arg0, arg2] = timestamp;
	name[arg0, arg2] = execname;
	who[arg0, arg2] = pid;
}

io:::done
/start[arg0, arg2]/
{
	this->type = args[0]->b_flags & B_READ ? "R" : "W";
	@n[who[arg0, arg2], name[arg0, arg2], args[1]->dev_statname, this->type] = count();
	@b[who[arg0, arg2], name[arg0, arg2], args[1]->dev_statname, this->type] = sum(args[0]->b_bcount);
	@t[who[arg0, arg2], name[arg0, arg2], args[1]->dev_statname, this->type] = avg((timestamp - start[arg0, arg2]) / 1000);
	start[arg0, arg2] = 0;
	name[arg0, arg2] = 0;
	who[arg0, arg2] = 0;
}

tick-1s
/every::due($1)/
{
	printf("%Y\n", walltimestamp);
	printa("%7d %-16s %-8s %1s %@8d %@12d %@9d\n", @n, @b, @t);
	trunc(@n);
	trunc(@b);
	trunc(@t);
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	printa("%7d %-16s %-8s %1s %@8d %@12d %@9d\n", @n, @b, @t);
}
