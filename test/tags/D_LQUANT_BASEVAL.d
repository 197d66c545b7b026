// tag: D_LQUANT_BASEVAL 4
BEGIN
{
	@a = lquantize(1, 0x123456789, 0x223456789, 1);
}
