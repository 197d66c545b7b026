// tag: D_LLQUANT_LOWTYPE 4
BEGIN
{
	@a = llquantize(1, 10, "x", 6, 20);
}
