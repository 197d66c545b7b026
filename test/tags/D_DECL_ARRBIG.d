// tag: D_DECL_ARRBIG 2
int x[0x7fffffffffff];
BEGIN
{
	trace(1);
}
