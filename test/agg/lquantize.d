// lquantize(): linear buckets between two bounds.
// run: -q
BEGIN
{
	@ = lquantize(-5, 0, 100, 10);
	@ = lquantize(0, 0, 100, 10);
	@ = lquantize(15, 0, 100, 10);
	@ = lquantize(19, 0, 100, 10);
	@ = lquantize(100, 0, 100, 10);
	@ = lquantize(1000, 0, 100, 10);
	exit(0);
}
