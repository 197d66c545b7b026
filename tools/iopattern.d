#!/usr/sbin/dtrace -s
/*
 * iopattern - requests to disks: sequential or random, how many, how large
 *
 * USAGE
 *	dtrace -s iopattern [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two tables (default: 1)
 *	count	how many tables (default: until Ctrl-C)
 *
 * OUTPUT
 *	DISK	the disk
 *	IOS	requests that move data
 *	SEQ	requests that begin where the previous one ended
 *	READ	bytes read
 *	WRITTEN	bytes written
 *	MAX	bytes of the largest request request
 *
 * SEE ALSO
 *	seeksize, biotop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;
import every;

uint64_t next[dev_t];

BEGIN
{
	printf("%-10s %8s %8s %12s %12s %9s\n", "DISK", "IOS", "SEQ", "READ", "WRITTEN", "MAX");
}

io:::start
/tool::wanted && args[0]->b_bcount/
{
	@n[args[1]->dev_statname] = count();
	@s[args[1]->dev_statname] = sum(next[args[0]->b_edev] == args[0]->b_lblkno);
	@r[args[1]->dev_statname] = sum(args[0]->b_flags & B_READ ? args[0]->b_bcount : 0);
	@w[args[1]->dev_statname] = sum(args[0]->b_flags & B_READ ? 0 : args[0]->b_bcount);
	@m[args[1]->dev_statname] = max(args[0]->b_bcount);
	next[args[0]->b_edev] = args[0]->b_lblkno + args[0]->b_bcount / 512;
}

tick-1s
/every::due($1)/
{
	printf("%Y\n", walltimestamp);
	printa("%-10s %@8d %@8d %@12d %@12d %@9d\n", @n, @s, @r, @w, @m);
	trunc(@n);
	trunc(@s);
	trunc(@r);
	trunc(@w);
	trunc(@m);
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	printa("%-10s %@8d %@8d %@12d %@12d %@9d\n", @n, @s, @r, @w, @m);
}
