// tag: D_DEREF_VOID 4
BEGIN
{
	trace(*(void *)0);
}
