// tag: D_PRINTF_AGG_CONV 4
BEGIN
{
	printf("%@d", 1);
}
