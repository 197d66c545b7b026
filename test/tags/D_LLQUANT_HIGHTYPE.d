// tag: D_LLQUANT_HIGHTYPE 4
BEGIN
{
	@ = llquantize(1, 10, 0, arg0, 20);
}
