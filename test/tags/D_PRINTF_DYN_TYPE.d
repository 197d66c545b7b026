// tag: D_PRINTF_DYN_TYPE
BEGIN
{
	printf("%*d", "x", 1);
}
