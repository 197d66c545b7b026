// tag: D_LLQUANT_MAGTOOBIG
BEGIN
{
	@a = llquantize(1, 10, 0, 60, 20);
}
