// tag: D_FUNC_IDENT 4
BEGIN
{
	trace((1)(2));
}
