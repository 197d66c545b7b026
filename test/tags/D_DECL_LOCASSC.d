// tag: D_DECL_LOCASSC
this int x[string];
BEGIN
{
	trace(1);
}
