// stddev(): the square root of the mean square minus the squared mean, in integers; squares are kept in 128 bits.
// run: -q
BEGIN
{
	@a = stddev(2); @a = stddev(4); @a = stddev(4); @a = stddev(4); @a = stddev(5); @a = stddev(5); @a = stddev(7); @a = stddev(9);
	@one = stddev(100);
	@big = stddev(5000000000); @big = stddev(5000000200);
	@neg = stddev(-10); @neg = stddev(10);
	printa("%@d %@d %@d %@d\n", @a, @one, @big, @neg);
	exit(0);
}
