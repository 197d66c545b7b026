// tag: D_LQUANT_BASETYPE 4
BEGIN
{
	@a = lquantize(1, "x", 10, 1);
}
