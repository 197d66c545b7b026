// tag: D_DECL_COMBO 2
short short x;
BEGIN
{
	trace(1);
}
