// tag: D_LLQUANT_FACTOREVEN 4
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 15);
}
