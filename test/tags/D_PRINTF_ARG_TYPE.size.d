// tag: D_PRINTF_ARG_TYPE
BEGIN
{
	printf("%hd", 1LL);
}
