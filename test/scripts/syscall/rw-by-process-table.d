#!/usr/sbin/dtrace -s
// run: -e
/* A table every second: bytes read and written by process. */

#pragma D option quiet
#pragma D option destructive

unsigned long long total_r, total_w;

dtrace:::BEGIN
{
	total_r = 0;
	total_w = 0;
	lines = 0;
}

syscall::read:return
/(int)arg0 > 0/
{
	@r[pid, execname] = sum(arg0);
	@w[pid, execname] = sum(0);
	total_r += arg0;
}

syscall::write:return
/(int)arg0 > 0/
{
	@r[pid, execname] = sum(0);
	@w[pid, execname] = sum(arg0);
	total_w += arg0;
}

profile:::tick-1s
{
	system("clear");
	printf("%Y, load: read %llu KB, written %llu KB\n\n", walltimestamp, total_r / 1024, total_w >> 10);
	printf("%6s %-18s %12s %12s\n", "PID", "CMD", "READ", "WRITE");
	printa("%6d %-18s %@12d %@12d\n", @r, @w);
	clear(@r);
	clear(@w);
	total_r = 0;
	total_w = 0;
	lines++;
}
