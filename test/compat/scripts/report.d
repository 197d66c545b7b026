#!/usr/sbin/dtrace -s
// run: -q
/*
 * report.d: a table as many scripts print it at their end: header, rows by key, totals, share of the whole.
 */
#pragma D option aggsortkey

string name[int];
int calls[int];
uint64_t ns[int];

BEGIN
{
	name[0] = "open"; calls[0] = 12; ns[0] = 480000;
	name[1] = "read"; calls[1] = 340; ns[1] = 1700000;
	name[2] = "write"; calls[2] = 48; ns[2] = 96000;
	n = 3;
	i = 0;
	total = 0;
}

BEGIN /i < n/ { @calls[name[i]] = sum(calls[i]); @time[name[i]] = sum(ns[i]); @avg[name[i]] = avg(ns[i] / calls[i]); total += ns[i]; i++; }
BEGIN /i < n/ { @calls[name[i]] = sum(calls[i]); @time[name[i]] = sum(ns[i]); @avg[name[i]] = avg(ns[i] / calls[i]); total += ns[i]; i++; }
BEGIN /i < n/ { @calls[name[i]] = sum(calls[i]); @time[name[i]] = sum(ns[i]); @avg[name[i]] = avg(ns[i] / calls[i]); total += ns[i]; i++; }
BEGIN /i < n/ { printf("never\n"); }

BEGIN
{
	exit(0);
}

END
{
	normalize(@time, 1000);
	printf("%-10s %8s %10s %10s\n", "CALL", "COUNT", "TIME(us)", "AVG(ns)");
	printa("%-10s %@8d %@10d %@10d\n", @calls, @time, @avg);
	printf("%-10s %8s %10d\n", "total", "", total / 1000);
	printf("share of %s: %d%%\n", name[1], ns[1] * 100 / total);
}
