// tag: D_PRINT_AGG
BEGIN
{
	@a = count(); print(@a);
}
