// tag: D_DECL_PARMCLASS
int (*f)(static int x);
BEGIN
{
	trace(1);
}
