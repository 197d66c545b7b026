// tag: D_DECL_VOIDATTR 2
unsigned void *x;
BEGIN
{
	trace(1);
}
