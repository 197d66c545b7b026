// tag: D_DECL_ARRBIG
int x[0x7fffffffffff];
BEGIN
{
	trace(1);
}
