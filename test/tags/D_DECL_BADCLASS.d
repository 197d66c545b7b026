// tag: D_DECL_BADCLASS 2
register int x;
BEGIN
{
	trace(1);
}
