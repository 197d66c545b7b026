// tag: D_LLQUANT_NSTEPTYPE 4
BEGIN
{
	@a = llquantize(1, 10, 0, 6, "x");
}
