// tag: D_OFFSETOF_BITFIELD
struct s { int a : 3; };
BEGIN
{
	trace(offsetof(struct s, a));
}
