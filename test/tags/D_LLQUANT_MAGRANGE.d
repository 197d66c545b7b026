// tag: D_LLQUANT_MAGRANGE
BEGIN
{
	@a = llquantize(1, 10, 6, 0, 20);
}
