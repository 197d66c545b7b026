// tag: D_LQUANT_STEPLARGE 4
BEGIN
{
	@a = lquantize(1, 0, 10, 100);
}
