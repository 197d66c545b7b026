// tag: D_DECL_LONGINT 2
long string x;
BEGIN
{
	trace(1);
}
