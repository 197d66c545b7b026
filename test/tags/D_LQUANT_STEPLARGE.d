// tag: D_LQUANT_STEPLARGE
BEGIN
{
	@a = lquantize(1, 0, 10, 100);
}
