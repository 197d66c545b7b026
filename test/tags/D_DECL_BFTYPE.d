// tag: D_DECL_BFTYPE 2
struct s { char *a : 3; };
BEGIN
{
	trace(1);
}
