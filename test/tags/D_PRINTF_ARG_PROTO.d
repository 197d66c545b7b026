// tag: D_PRINTF_ARG_PROTO 4
BEGIN
{
	printf("%d %d", 1);
}
