// tag: D_DECL_ARRNULL
int x[];
BEGIN
{
	trace(1);
}
