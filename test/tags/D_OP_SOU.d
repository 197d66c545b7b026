// tag: D_OP_SOU 5
int *p;
BEGIN
{
	trace(p->y);
}
