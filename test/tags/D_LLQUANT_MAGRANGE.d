// tag: D_LLQUANT_MAGRANGE 4
BEGIN
{
	@a = llquantize(1, 10, 6, 0, 20);
}
