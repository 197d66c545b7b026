// An increment counts more than once; negative ones grow to the left, and with both signs the axis is in the middle.
// run: -q
BEGIN
{
	@a = quantize(5, 3);
	@a = quantize(9);
	@b = quantize(5, -3);
	@b = quantize(9, -1);
	@c = quantize(5, -3);
	@c = quantize(9, 1);
	exit(0);
}
