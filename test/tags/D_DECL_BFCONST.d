// tag: D_DECL_BFCONST
int y;
struct s { int a : y; };
BEGIN
{
	trace(1);
}
