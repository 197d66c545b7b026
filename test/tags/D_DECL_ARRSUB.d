// tag: D_DECL_ARRSUB
int y;
struct s { int a[y]; };
BEGIN
{
	trace(1);
}
