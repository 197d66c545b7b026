// tag: D_DECL_LONGINT
long string x;
BEGIN
{
	trace(1);
}
