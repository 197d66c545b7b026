// printa with a format: keys in order, %@ for the value.
// run: -q
BEGIN
{
	@a["x", 1] = sum(5);
	@a["y", 2] = sum(7);
	printa("%s-%d: %@d\n", @a);
	printa("%@5d|%s\n", @a);
	exit(0);
}
