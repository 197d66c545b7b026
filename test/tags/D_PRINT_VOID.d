// tag: D_PRINT_VOID 4
BEGIN
{
	print((void)1);
}
