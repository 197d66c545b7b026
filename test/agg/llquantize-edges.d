// llquantize(): a factor of two, steps between its powers, both open ends; nothing at all.
// run: -q
BEGIN
{
	@a = llquantize(1, 2, 1, 3, 4);
	@a = llquantize(2, 2, 1, 3, 4);
	@a = llquantize(7, 2, 1, 3, 4, 2);
	@a = llquantize(16, 2, 1, 3, 4);
	@b = llquantize(1, 10, 0, 2, 10, 0);
	exit(0);
}
