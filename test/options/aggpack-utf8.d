// -x aggpack with UTF-8: eight heights.
// run: -q -x aggpack -x encoding=utf8
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
	exit(0);
}
