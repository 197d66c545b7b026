// tag: D_TYPE_MEMBER
struct s { int a; } x;
BEGIN
{
	trace(x.zzz);
}
