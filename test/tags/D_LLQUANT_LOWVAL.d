// tag: D_LLQUANT_LOWVAL
BEGIN
{
	@a = llquantize(1, 10, 74565, 140101, 20);
}
