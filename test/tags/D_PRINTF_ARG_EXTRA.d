// tag: D_PRINTF_ARG_EXTRA
BEGIN
{
	printf("%d", 1, 2);
}
