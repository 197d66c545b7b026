// tag: D_PRINTF_AGG_CONV
BEGIN
{
	printf("%@d", 1);
}
