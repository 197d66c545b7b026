// llquantize(): linear steps inside powers of a factor.
// run: -q
BEGIN
{
	@ = llquantize(1, 10, 0, 3, 10);
	@ = llquantize(5, 10, 0, 3, 10);
	@ = llquantize(55, 10, 0, 3, 10);
	@ = llquantize(0, 10, 0, 3, 10);
	@ = llquantize(99999, 10, 0, 3, 10);
	exit(0);
}
