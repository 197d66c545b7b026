// tag: D_SIZEOF_TYPE 4
BEGIN
{
	trace(sizeof (void));
}
