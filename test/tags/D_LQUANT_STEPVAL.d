// tag: D_LQUANT_STEPVAL
BEGIN
{
	@a = lquantize(1, 0, 10, 0x12345);
}
