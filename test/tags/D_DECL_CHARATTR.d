// tag: D_DECL_CHARATTR
long char x;
BEGIN
{
	trace(1);
}
