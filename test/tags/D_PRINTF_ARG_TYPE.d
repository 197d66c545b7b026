// tag: D_PRINTF_ARG_TYPE
BEGIN
{
	printf("%d", "x");
}
