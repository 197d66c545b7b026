// tag: D_OP_IDENT 5
struct s { int a; } *p;
BEGIN
{
	trace(p->1);
}
