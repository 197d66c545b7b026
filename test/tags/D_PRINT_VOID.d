// tag: D_PRINT_VOID
BEGIN
{
	print((void)1);
}
