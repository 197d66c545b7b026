// tag: D_IDENT_UNDEF
BEGIN
{
	trace(`no_such_kernel_symbol);
}
