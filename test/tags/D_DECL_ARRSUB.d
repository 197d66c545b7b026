// tag: D_DECL_ARRSUB 3
int y;
struct s { int a[y]; };
BEGIN
{
	trace(1);
}
