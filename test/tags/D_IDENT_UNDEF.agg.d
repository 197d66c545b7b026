// tag: D_IDENT_UNDEF 4
BEGIN
{
	@a;
}
