// tag: D_DECL_BFCONST 2
struct s { int a : -1; };
BEGIN
{
	trace(1);
}
