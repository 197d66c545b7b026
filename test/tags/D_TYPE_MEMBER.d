// tag: D_TYPE_MEMBER 5
struct s { int a; } x;
BEGIN
{
	trace(x.zzz);
}
