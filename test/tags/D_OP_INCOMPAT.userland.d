// tag: D_OP_INCOMPAT
int *p;
userland int *q;
BEGIN
{
	p = q;
}
