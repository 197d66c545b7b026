// tag: D_OP_INCOMPAT 6
int *p;
userland int *q;
BEGIN
{
	p = q;
}
