// tag: D_DECL_COMBO 2
long short x;
BEGIN
{
	trace(1);
}
