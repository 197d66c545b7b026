// tag: D_DECL_BADCLASS
register int x;
BEGIN
{
	trace(1);
}
