// All aggregating functions that give one number, without keys.
// run: -q
BEGIN
{
	@c = count(); @c = count(); @c = count();
	@s = sum(10); @s = sum(-3);
	@a = avg(10); @a = avg(5);
	@mi = min(7); @mi = min(-2); @mi = min(9);
	@ma = max(7); @ma = max(-2);
	@d = stddev(2); @d = stddev(4); @d = stddev(4); @d = stddev(4); @d = stddev(5); @d = stddev(5); @d = stddev(7); @d = stddev(9);
	exit(0);
}
