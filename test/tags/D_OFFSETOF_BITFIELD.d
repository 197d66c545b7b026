// tag: D_OFFSETOF_BITFIELD 5
struct s { int a : 3; };
BEGIN
{
	trace(offsetof(struct s, a));
}
