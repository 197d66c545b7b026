// tag: D_LQUANT_STEPSMALL
BEGIN
{
	@a = lquantize(1, 0, 1000000, 1);
}
