// tag: D_LLQUANT_NSTEPTYPE 4
BEGIN
{
	@ = llquantize(1, 10, 0, 6, arg0);
}
