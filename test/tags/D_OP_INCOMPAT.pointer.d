// tag: D_OP_INCOMPAT 6
char *p;
int *q;
BEGIN
{
	p = q;
}
