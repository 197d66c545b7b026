// %@N in printa(): the number of keys; a format with nothing else is used once.
#pragma D option quiet

BEGIN
{
	@a["x", 1] = count();
	@a["y", 1] = count();
	@a["y", 2] = count();
	@b["x", 1] = sum(7);
	@b["z", 3] = sum(8);
	@none[pid] = count();
	trunc(@none);
	printa("%@N keys\n", @a);
	printa("%@N keys in both, 100%%\n", @a, @b);
	printa("%@N keys\n", @none);
	printa("%s %d: %@d of %@N keys\n", @a);
	trunc(@a, 1);
	printa("[%@5N] [%@-5N] [%@05N]\n", @a);
	trunc(@a);
	trunc(@b);
	exit(0);
}
