// tag: D_OP_INCOMPLETE 5
struct nosuchstruct *p;
BEGIN
{
	trace(p->x);
}
