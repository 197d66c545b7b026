// llquantize() with fewer steps than the factor, and one without any count.
// run: -q
BEGIN
{
	@five = llquantize(99, 10, 2, 3, 5); @five = llquantize(100, 10, 2, 3, 5); @five = llquantize(199, 10, 2, 3, 5);
	@five = llquantize(200, 10, 2, 3, 5); @five = llquantize(999, 10, 2, 3, 5); @five = llquantize(1000, 10, 2, 3, 5);
	@five = llquantize(2000, 10, 2, 3, 5); @five = llquantize(9999, 10, 2, 3, 5); @five = llquantize(10000, 10, 2, 3, 5);
	@one = llquantize(1, 10, 0, 2, 1); @one = llquantize(10, 10, 0, 2, 1); @one = llquantize(99, 10, 0, 2, 1);
	@ten = llquantize(30, 10, 1, 2, 10); @ten = llquantize(300, 10, 1, 2, 10);
	@many = llquantize(15, 10, 1, 2, 20); @many = llquantize(95, 10, 1, 2, 20); @many = llquantize(150, 10, 1, 2, 20);
	@none = llquantize(1, 10, 2, 3, 10);
	clear(@none);
	exit(0);
}
