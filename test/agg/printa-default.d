// printa without a format; what was printed is not printed again at the end.
// run: -q
BEGIN
{
	@a["x"] = sum(5);
	@b["y"] = sum(6);
	printa(@a);
	exit(0);
}
