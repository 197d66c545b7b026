// tag: D_DEREF_VOID
BEGIN
{
	trace(*(void *)0);
}
