// tag: D_NORMALIZE_SCALAR
BEGIN
{
	@a = count(); normalize(@a, "x");
}
