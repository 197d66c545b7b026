// clear() zeroes values and keeps keys; trunc() removes them.
// run: -q
BEGIN
{
	@a["x"] = sum(5);
	@a["y"] = sum(6);
	clear(@a);
	printa("%s %@d\n", @a);
	@b["p"] = sum(1); @b["q"] = sum(2); @b["r"] = sum(3);
	trunc(@b, 2);
	printa("%s %@d\n", @b);
	trunc(@b, -1);
	printa("%s %@d\n", @b);
	trunc(@b);
	printa("%s %@d\n", @b);
	exit(0);
}
