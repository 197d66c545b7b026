// tag: D_LQUANT_STEPTYPE
BEGIN
{
	@a = lquantize(1, 0, 10, "x");
}
