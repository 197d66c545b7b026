// tag: D_DECL_COMBO
long short x;
BEGIN
{
	trace(1);
}
