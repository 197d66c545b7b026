// min() and max(): signed comparison.
// run: -q
BEGIN
{
	@min = min(3); @min = min(-2); @min = min(9);
	@max = max(3); @max = max(-2); @max = max(9);
	@low = max(-9); @low = max(-7);
	@high = min(9); @high = min(7);
	@edge = min(-0x7fffffffffffffff - 1); @edge = min(0x7fffffffffffffff);
	printa("%@d %@d %@d %@d %@d\n", @min, @max, @low, @high, @edge);
	exit(0);
}
