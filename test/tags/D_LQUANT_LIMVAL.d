// tag: D_LQUANT_LIMVAL 4
BEGIN
{
	@a = lquantize(1, 0, 0x123456789, 1);
}
