#!/usr/sbin/dtrace -s
/* A report as an END clause prints it: three aggregations side by side, in order of the first. */

#pragma D option quiet

BEGIN
{
	@n["read"] = count(); @n["read"] = count(); @n["read"] = count();
	@n["write"] = count(); @n["open"] = count(); @n["open"] = count();
	@t["read"] = sum(1500); @t["read"] = sum(2500); @t["open"] = sum(9000);
	@m["read"] = max(2500); @m["open"] = max(8000); @m["write"] = max(70000);
	exit(0);
}

END
{
	normalize(@t, 1000);
	printf("%-10s %6s %8s %8s\n", "CALL", "COUNT", "us", "MAX(ns)");
	printa("%-10s %@6d %@8d %@8d\n", @n, @t, @m);
}
