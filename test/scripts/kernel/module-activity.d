#!/usr/sbin/dtrace -s
// run: -e -Z
/* Which modules, then which functions of them are busiest? */

fbt:::entry { @[probemod] = count(); }
fbt:vmlinux::entry { @k[probefunc] = count(); }
fbt:vmlinux:strcmp:entry { @s[stack()] = count(); }
lockstat:vmlinux::adaptive-acquire { @l[stack()] = count(); }

tick-5s
{
	trunc(@k, 20);
	exit(0);
}
