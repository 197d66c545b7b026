// tag: D_LLQUANT_LOWVAL 4
BEGIN
{
	@a = llquantize(1, 10, 74565, 140101, 20);
}
