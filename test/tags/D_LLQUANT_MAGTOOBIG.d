// tag: D_LLQUANT_MAGTOOBIG 4
BEGIN
{
	@a = llquantize(1, 10, 0, 60, 20);
}
