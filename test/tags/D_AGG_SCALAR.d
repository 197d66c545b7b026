// tag: D_AGG_SCALAR 4
BEGIN
{
	@a = sum("x");
}
