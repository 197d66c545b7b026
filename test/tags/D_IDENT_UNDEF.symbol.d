// tag: D_IDENT_UNDEF 4
BEGIN
{
	trace(`no_such_kernel_symbol);
}
