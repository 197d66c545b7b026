// tag: D_AGG_NULL 4
BEGIN
{
	@a[1];
}
