// tag: D_PRINTF_VOID 4
BEGIN
{
	printf("%d", (void)0);
}
