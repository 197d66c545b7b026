// tag: D_NORMALIZE_SCALAR 4
BEGIN
{
	@a = count(); normalize(@a, "x");
}
