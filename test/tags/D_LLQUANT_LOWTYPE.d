// tag: D_LLQUANT_LOWTYPE
BEGIN
{
	@a = llquantize(1, 10, "x", 6, 20);
}
