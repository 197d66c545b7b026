// tag: D_LQUANT_STEPTYPE 4
BEGIN
{
	@a = lquantize(1, 0, 10, "x");
}
