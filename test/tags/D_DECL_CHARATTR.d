// tag: D_DECL_CHARATTR 2
long char x;
BEGIN
{
	trace(1);
}
