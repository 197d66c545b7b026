// tag: D_PRINTF_ARG_EXTRA 4
BEGIN
{
	printf("%d", 1, 2);
}
