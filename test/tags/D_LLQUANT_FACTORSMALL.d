// tag: D_LLQUANT_FACTORSMALL 4
BEGIN
{
	@a = llquantize(1, 1, 0, 6, 20);
}
