// Several aggregations: rows are the union of the keys, missing values are zero; %@ takes them in order and the last again.
// run: -q
BEGIN
{
	@a["x"] = count();
	@a["y"] = count();
	@b["y"] = sum(5);
	@b["z"] = sum(-5);
	@q["z"] = lquantize(1, 0, 2);
	printa("%s %@d %@d\n", @a, @b);
	printa("%s %@d %@d %@d %@d\n", @a, @b);
	printa("%s %@d\n", @a, @b);
	printa(@a, @b);
	printa(@b, @q);
	exit(0);
}
