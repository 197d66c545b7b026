// tag: D_DEREF_NONPTR 4
BEGIN
{
	trace(*1);
}
