// tag: D_OP_SOU
int *p;
BEGIN
{
	trace(p->y);
}
