// tag: D_LLQUANT_HIGHVAL 4
BEGIN
{
	@a = llquantize(1, 10, 0, 74565, 20);
}
