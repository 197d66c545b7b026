// tag: D_PRINTF_DYN_PROTO
BEGIN
{
	printf("%*d");
}
