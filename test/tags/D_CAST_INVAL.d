// tag: D_CAST_INVAL
struct s { int a; } x;
BEGIN
{
	trace((int)x);
}
