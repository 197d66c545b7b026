// tag: D_PRINTF_DYN_TYPE 4
BEGIN
{
	printf("%*d", "x", 1);
}
