// tag: D_PRINTF_ARG_TYPE 4
BEGIN
{
	printf("%hd", 1LL);
}
