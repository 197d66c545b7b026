// -x aggzoom: the largest bar takes 95% of the width, whatever the total.
// run: -q
BEGIN
{
	@[1] = lquantize(1, 0, 3);
	@[1] = lquantize(1, 0, 3);
	@[1] = lquantize(2, 0, 3);
	@[2] = lquantize(1, 0, 3, 1, -4);
	@[2] = lquantize(2, 0, 3, 1, 2);
	printa(@);
	setopt("aggzoom");
	printa(@);
	exit(0);
}
