// tag: D_CAST_INVAL 5
struct s { int a; } x;
BEGIN
{
	trace((int)x);
}
