// tag: D_AGG_SCALAR
BEGIN
{
	@a = sum("x");
}
