// tag: D_DECL_BFTYPE
struct s { char *a : 3; };
BEGIN
{
	trace(1);
}
