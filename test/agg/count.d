// count(): how often, per key; nothing is counted before the first time.
// run: -q
BEGIN
{
	@a["x"] = count();
	@a["x"] = count();
	@a["y"] = count();
	@b = count();
	printa("%s %@d\n", @a);
	printa("%@u\n", @b);
	exit(0);
}
