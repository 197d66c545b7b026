// tag: D_LLQUANT_FACTORTYPE 4
BEGIN
{
	@a = llquantize(1, "x", 0, 6, 20);
}
