// tag: D_PRINTF_VOID
BEGIN
{
	printf("%d", (void)0);
}
