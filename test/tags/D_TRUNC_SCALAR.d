// tag: D_TRUNC_SCALAR
BEGIN
{
	@a[1] = count(); trunc(@a, "x");
}
