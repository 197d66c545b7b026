#!/usr/sbin/dtrace -s
// run: -e
/* Which kernel functions and modules are hot? The caller too. */

#pragma D option quiet

profile:::profile-1001hz
/arg0/
{
	@pc[arg0] = count();
	@func[func(arg0)] = count();
	@mod[mod(arg0)] = count();
	@callers[func(caller)] = count();
}

dtrace:::END
{
	trunc(@pc, 5);
	printa("%@8u %a\n", @pc);
	printa("%-60a %@8u\n", @func);
	printa(@mod);
}
