// tag: D_LQUANT_STEPVAL 4
BEGIN
{
	@a = lquantize(1, 0, 10, 0x12345);
}
