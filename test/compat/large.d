// Large aggregations without keys: more than 32 KB of values together.
// run: -q
BEGIN
{
	@l = lquantize(65534, 0, 65535, 1);
	@m = lquantize(7, 0, 5000, 1);
	@n = llquantize(1234, 10, 0, 16, 100);
	@o = lquantize(-1, 0, 10, 10);
	@c = count();
	@s = sum(5);
	printa(@c);
	printa(@l);
}
BEGIN
{
	@l = lquantize(65533, 0, 65535, 1);
	@c = count();
	exit(0);
}
