// tag: D_DECL_CLASS 2
extern static int x;
BEGIN
{
	trace(1);
}
