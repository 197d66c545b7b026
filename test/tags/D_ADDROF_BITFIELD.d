// tag: D_ADDROF_BITFIELD 5
struct s { int a : 3; };
BEGIN
{
	trace(&((struct s *)0)->a);
}
