// tag: D_DECL_TYPERED 3
struct s { int a; };
struct s { int b; };
BEGIN
{
	trace(1);
}
