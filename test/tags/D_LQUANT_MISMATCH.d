// tag: D_LQUANT_MISMATCH 4
BEGIN
{
	@a = lquantize(1, 10, 0, 1);
}
