// tag: D_DECL_MNAME
struct s { int; };
BEGIN
{
	trace(1);
}
