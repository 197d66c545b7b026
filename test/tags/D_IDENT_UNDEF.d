// tag: D_IDENT_UNDEF
BEGIN
{
	trace(nosuchvariable);
}
