// tag: D_OP_INCOMPAT
char *p;
int *q;
BEGIN
{
	p = q;
}
