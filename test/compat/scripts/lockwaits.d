#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * lockwaits.d: locks of the kernel that threads wait for: how often, how long, from where.
 */
#pragma D option quiet
#pragma D option stackframes=8

lockstat:::adaptive-block,
lockstat:::adaptive-spin,
lockstat:::spin-spin
{
	@n[probename] = count();
	@t[probename] = sum(arg1);
	@who[execname, probename] = sum(arg1);
	@where[probename, stack()] = sum(arg1);
}

lockstat:::rw-block
{
	@n[args[2] ? "read lock" : "write lock"] = count();
	@t[args[2] ? "read lock" : "write lock"] = sum(args[1]);
	@held[args[3] ? "held by a writer" : "held by readers"] = count();
}

END
{
	normalize(@t, 1000);
	printf("%-16s %8s %12s\n", "KIND", "WAITS", "TIME(us)");
	printa("%-16s %@8d %@12d\n", @n, @t);
	printa("%s %@d\n", @held);
	trunc(@who, 10);
	printa("%-16s %-16s %@12d\n", @who);
	trunc(@where, 3);
	printa("%s%k%@d\n", @where);
}
