// tag: D_DECL_VOIDOBJ
void x;
BEGIN
{
	trace(1);
}
