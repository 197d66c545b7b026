// tag: D_LQUANT_BASETYPE
BEGIN
{
	@a = lquantize(1, "x", 10, 1);
}
