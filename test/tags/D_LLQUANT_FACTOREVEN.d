// tag: D_LLQUANT_FACTOREVEN
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 15);
}
