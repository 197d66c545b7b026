// lquantize(): below, inside, above; a step that does not divide the range; negative bounds; nothing at all.
// run: -q
BEGIN
{
	@a = lquantize(-1, 0, 10, 3);
	@a = lquantize(8, 0, 10, 3);
	@a = lquantize(9, 0, 10, 3);
	@a = lquantize(10, 0, 10, 3, 2);
	@b = lquantize(-7, -10, 10, 5);
	@b = lquantize(-100, -10, 10, 5);
	@c = lquantize(5, 0, 10);
	@d = lquantize(1, 0, 10, 2, 0);
	exit(0);
}
