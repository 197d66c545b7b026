// tag: D_LLQUANT_FACTORVAL 4
BEGIN
{
	@a = llquantize(1, 74565, 0, 6, 20);
}
