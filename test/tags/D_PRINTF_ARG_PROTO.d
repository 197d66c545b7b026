// tag: D_PRINTF_ARG_PROTO
BEGIN
{
	printf("%d %d", 1);
}
