// tag: D_DECL_LOCASSC 2
this int x[string];
BEGIN
{
	trace(1);
}
