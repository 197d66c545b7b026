// tag: D_PRINTF_DYN_PROTO 4
BEGIN
{
	printf("%*d");
}
