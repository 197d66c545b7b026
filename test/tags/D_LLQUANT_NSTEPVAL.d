// tag: D_LLQUANT_NSTEPVAL 4
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 74560);
}
