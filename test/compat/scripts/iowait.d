#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * iowait.d: who waits for disks, where in the kernel, how long.
 */
#pragma D option quiet
#pragma D option stackframes=12

io:::wait-start
{
	self->since = timestamp;
	@where[execname, stack()] = count();
}

io:::wait-done
/self->since/
{
	@waited[execname] = sum(timestamp - self->since);
	@dist[execname] = llquantize((timestamp - self->since) / 1000, 10, 0, 6, 10);
	self->since = 0;
}

END
{
	normalize(@waited, 1000000);
	printa("%-16s %@d ms\n", @waited);
	printa("%s (us) %@d\n", @dist);
	trunc(@where, 3);
	printa("%s%k%@d\n", @where);
}
