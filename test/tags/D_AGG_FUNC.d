// tag: D_AGG_FUNC
BEGIN
{
	@a = 5;
}
