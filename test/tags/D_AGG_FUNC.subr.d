// tag: D_AGG_FUNC
BEGIN
{
	@a = strlen("x");
}
