// tag: D_LQUANT_BASETYPE 4
BEGIN
{
	@ = lquantize(1, arg0, 100);
}
