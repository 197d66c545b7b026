// tag: D_LLQUANT_LOWTYPE 4
BEGIN
{
	@ = llquantize(1, 10, arg0, 6, 20);
}
