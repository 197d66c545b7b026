// tag: D_DECL_BFSIZE 2
struct s { int a : 33; };
BEGIN
{
	trace(1);
}
