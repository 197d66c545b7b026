// tag: D_DECL_VOIDATTR
unsigned void *x;
BEGIN
{
	trace(1);
}
