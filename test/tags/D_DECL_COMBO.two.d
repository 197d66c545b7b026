// tag: D_DECL_COMBO 2
int char x;
BEGIN
{
	trace(1);
}
