// tag: D_DECL_BFSIZE
struct s { int a : 33; };
BEGIN
{
	trace(1);
}
