// %@.99q of printa() is a percentile of a distribution; the precision is a decimal fraction.
// run: -q
BEGIN
{
	@q = quantize(1000, 50); @q = quantize(5000, 40); @q = quantize(100000, 10);
	printa("p50 %@.5q p90 %@.90q p99 %@8.99q p99.9 %@.999q median %@q p5 %@.05q p0 %@.0q\n", @q);
	@l["x"] = lquantize(3, 0, 10, 1); @l["x"] = lquantize(7, 0, 10, 1); @l["y"] = lquantize(99, 0, 10, 1);
	@l["z"] = lquantize(-5, 0, 10, 1);
	@n["x"] = count(); @n["y"] = count(); @n["z"] = count();
	printa("%s %@d p50 %@.50q p99 %@.99q\n", @n, @l);
	@ll = llquantize(150, 10, 0, 3, 10);
	printa("%@'.5q\n", @ll);
	@none = quantize(1); clear(@none);
	printa("%@.5q\n", @none);
	exit(0);
}
