// tag: D_OP_IDENT 5
struct s { int a; } x;
BEGIN
{
	trace(x."a");
}
