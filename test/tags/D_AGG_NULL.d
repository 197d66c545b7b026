// tag: D_AGG_NULL
BEGIN
{
	@a;
}
