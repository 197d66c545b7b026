// tag: D_DEREF_NONPTR
BEGIN
{
	trace(*1);
}
