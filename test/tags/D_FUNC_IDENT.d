// tag: D_FUNC_IDENT
BEGIN
{
	trace((1)(2));
}
