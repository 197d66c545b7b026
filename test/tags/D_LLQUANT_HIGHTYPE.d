// tag: D_LLQUANT_HIGHTYPE 4
BEGIN
{
	@a = llquantize(1, 10, 0, "x", 20);
}
