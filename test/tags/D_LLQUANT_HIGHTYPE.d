// tag: D_LLQUANT_HIGHTYPE
BEGIN
{
	@a = llquantize(1, 10, 0, "x", 20);
}
