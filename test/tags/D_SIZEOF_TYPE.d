// tag: D_SIZEOF_TYPE
BEGIN
{
	trace(sizeof (void));
}
