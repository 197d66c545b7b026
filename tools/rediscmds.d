#!/usr/sbin/dtrace -s
/*
 * rediscmds - commands of a Redis server: how many, and their times
 *
 * USAGE
 *	dtrace -s rediscmds {-p pid | -c command}
 *
 * OUTPUT
 *	Commands that were executed, and a distribution of their times in nanoseconds.
 *
 * NOTES
 *	Redis has no static probes; its function call(), which executes every command, is traced instead.
 *
 * SEE ALSO
 *	pgqueries
 */
#pragma D option quiet

BEGIN
{
	printf("Timing commands of process %d... Ctrl-C ends.\n", $target);
}

pid$target:a.out:call:entry
{
	self->start = timestamp;
}

pid$target:a.out:call:return
/self->start/
{
	@ = count();
	@lat = quantize(timestamp - self->start);
	self->start = 0;
}

END
{
	printa("%@d commands\n", @);
	printa("ns%@d\n", @lat);
}
