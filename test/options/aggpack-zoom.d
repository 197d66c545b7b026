// -x aggpack with aggzoom: heights count from the highest cell.
// run: -q -x aggpack -x encoding=utf8
BEGIN
{
	@[1] = lquantize(1, 0, 8, 1, 1000);
	@[1] = lquantize(2, 0, 8, 1, 2000);
	@[1] = lquantize(3, 0, 8, 1, 3000);
	@[1] = lquantize(4, 0, 8, 1, 4000);
	@[1] = lquantize(5, 0, 8, 1, 1);
	printa(@);
	setopt("aggzoom");
	printa(@);
	exit(0);
}
