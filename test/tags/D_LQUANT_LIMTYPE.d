// tag: D_LQUANT_LIMTYPE
BEGIN
{
	@a = lquantize(1, 0, pid, 1);
}
