// tag: D_DECL_USELESS 2
int;
BEGIN
{
	trace(1);
}
