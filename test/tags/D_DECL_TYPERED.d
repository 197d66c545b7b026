// tag: D_DECL_TYPERED
struct s { int a; };
struct s { int b; };
BEGIN
{
	trace(1);
}
