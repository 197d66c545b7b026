// tag: D_DECL_USELESS
int;
BEGIN
{
	trace(1);
}
