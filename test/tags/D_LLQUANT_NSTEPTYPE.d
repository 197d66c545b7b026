// tag: D_LLQUANT_NSTEPTYPE
BEGIN
{
	@a = llquantize(1, 10, 0, 6, "x");
}
