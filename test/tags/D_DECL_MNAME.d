// tag: D_DECL_MNAME 2
struct s { int; };
BEGIN
{
	trace(1);
}
