// tag: D_DECL_BFCONST
struct s { int a : -1; };
BEGIN
{
	trace(1);
}
