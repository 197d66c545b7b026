// tag: D_OP_ARRFUN 5
int a[4];
BEGIN
{
	a = 0;
}
