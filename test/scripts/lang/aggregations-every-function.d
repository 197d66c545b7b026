#!/usr/sbin/dtrace -s
// run: -e
/* One of each aggregating function, with keys of every kind. */

syscall::write:return
{
	@c = count();
	@s[execname] = sum(arg0);
	@a[pid, tid] = avg(arg0);
	@mi[(char)(uid & 0x7f)] = min(arg0);
	@ma[curthread] = max(arg0);
	@sd[cpu, execname, probefunc] = stddev(arg0);
	@q[ustack(3)] = quantize(arg0, 2);
	@lq[(short)arg0] = lquantize(arg0, -10, 1000, 10, 1);
	@llq[probefunc == "write"] = llquantize(arg0, 10, 0, 6, 20);
	@k[stack(2), sym(caller), umod(ucaller)] = count();
}

tick-10s
{
	printa(@c);
	printa("%s %@d\n", @s);
	printa("%d %d %@d\n", @a);
	printa("%p %@d\n", @ma);
	printa("%k%@d\n", @q);
	normalize(@s, 1024);
	denormalize(@s);
	trunc(@a, -3);
	trunc(@sd, 5);
	clear(@lq);
	trunc(@llq);
}
