// tag: D_PRINTF_FMT_EMPTY 4
BEGIN
{
	printf("");
}
