// -x aggpack: a distribution in one line per key. In ASCII the heights are _ x X, and v V below zero.
// run: -q -x aggpack -x encoding=ascii
BEGIN
{
	@q["a"] = quantize(1);
	@q["a"] = quantize(2);
	@q["b"] = quantize(64);
	@q["b"] = quantize(16, 9);
	@q["c"] = quantize(0, 30);
	@q["c"] = quantize(4, -10);
	@l[1] = lquantize(-1, 0, 10);
	@l[1] = lquantize(3, 0, 10, 1, 7);
	@l[2] = lquantize(30, 0, 10);
	@nokey = quantize(-100);
	@llquantize["as always"] = llquantize(3, 10, 0, 1, 10);
	@count["as always"] = count();
	exit(0);
}
