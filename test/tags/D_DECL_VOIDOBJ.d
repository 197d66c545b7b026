// tag: D_DECL_VOIDOBJ 2
void x;
BEGIN
{
	trace(1);
}
