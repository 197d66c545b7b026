// %@ takes the conversions of integers, with flags and width before or after the @; distributions print their graph.
// run: -q
BEGIN
{
	@c["k"] = sum(254);
	printa("%@d %@i %@u %@x %@X %@o %@#x %@p\n", @c);
	printa("[%@8d] [%@-8d] [%@08d] [%8@d] [%-8@d] [%@+d] [%@.5d]\n", @c);
	@t = max(1700000000000000000);
	printa("%@Y|%@T\n", @t);
	@q["k"] = quantize(4);
	printa("%s:%@d", @q);
	exit(0);
}
