// tag: D_LQUANT_LIMTYPE 4
BEGIN
{
	@a = lquantize(1, 0, pid, 1);
}
