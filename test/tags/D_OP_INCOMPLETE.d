// tag: D_OP_INCOMPLETE
struct nosuchstruct *p;
BEGIN
{
	trace(p->x);
}
