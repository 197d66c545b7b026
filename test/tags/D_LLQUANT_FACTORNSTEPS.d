// tag: D_LLQUANT_FACTORNSTEPS 4
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 4);
}
