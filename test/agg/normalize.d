// normalize() divides when printing; denormalize() undoes it.
// run: -q
BEGIN
{
	@a["x"] = sum(100);
	normalize(@a, 10);
	printa("%@d\n", @a);
	denormalize(@a);
	printa("%@d\n", @a);
	exit(0);
}
