// clear(): the keys are kept, and counting starts again, also for min() and max().
// run: -q
BEGIN
{
	@n["x"] = count();
	@m["x"] = min(3);
	@a["x"] = avg(3);
	clear(@n); clear(@m); clear(@a);
	printa("%s %@d %@d %@d\n", @n, @m, @a);
	exit(0);
}

END
{
	@n["x"] = count();
	@m["x"] = min(7);
	@a["x"] = avg(9);
	printa("%s %@d %@d %@d\n", @n, @m, @a);
}
