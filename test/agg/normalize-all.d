// normalize() divides what is printed, of every function; clear() keeps the divisor, denormalize() ends it.
// run: -q
BEGIN
{
	@c = count(); @c = count(); @c = count(); @c = count();
	@s = sum(-100);
	@a = avg(30); @a = avg(50);
	@q = quantize(1, 40);
	normalize(@c, 2); normalize(@s, 10); normalize(@a, 10); normalize(@q, 10);
	printa("%@d %@d %@d %@d\n", @c, @s, @a, @q);
	clear(@s);
	printa("%@d\n", @s);
	denormalize(@q);
	printa(@q);
	exit(0);
}
