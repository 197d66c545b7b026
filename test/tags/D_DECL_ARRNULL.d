// tag: D_DECL_ARRNULL 2
int x[];
BEGIN
{
	trace(1);
}
