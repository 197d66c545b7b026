// tag: D_LQUANT_STEPSMALL 4
BEGIN
{
	@a = lquantize(1, 0, 1000000, 1);
}
