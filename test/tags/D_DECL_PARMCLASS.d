// tag: D_DECL_PARMCLASS 2
int (*f)(static int x);
BEGIN
{
	trace(1);
}
