// tag: D_LLQUANT_FACTORTYPE
BEGIN
{
	@a = llquantize(1, "x", 0, 6, 20);
}
