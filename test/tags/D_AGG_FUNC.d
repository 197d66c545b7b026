// tag: D_AGG_FUNC 4
BEGIN
{
	@a = 5;
}
