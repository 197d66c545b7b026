// printa of several aggregations: the union of their keys.
// run: -q
BEGIN
{
	@a["x"] = sum(5);
	@b["x"] = sum(6);
	@b["z"] = sum(1);
	printa("%s %@d %@d\n", @a, @b);
	exit(0);
}
