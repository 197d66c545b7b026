// tag: D_PRINTF_FMT_EMPTY
BEGIN
{
	printf("");
}
