// tag: D_LLQUANT_FACTORTYPE 4
BEGIN
{
	@ = llquantize(1, arg0, 0, 6, 20);
}
