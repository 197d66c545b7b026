// tag: D_DECL_CLASS
extern static int x;
BEGIN
{
	trace(1);
}
