// tag: D_TRUNC_SCALAR 4
BEGIN
{
	@a[1] = count(); trunc(@a, "x");
}
