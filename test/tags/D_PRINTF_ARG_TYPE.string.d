// tag: D_PRINTF_ARG_TYPE
BEGIN
{
	printf("%s", 1);
}
