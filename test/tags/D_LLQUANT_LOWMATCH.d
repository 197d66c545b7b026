// tag: D_LLQUANT_LOWMATCH 4
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 1, 6, 20);
}
