// tag: D_LLQUANT_HIGHVAL
BEGIN
{
	@a = llquantize(1, 10, 0, 74565, 20);
}
