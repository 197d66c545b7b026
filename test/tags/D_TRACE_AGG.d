// tag: D_TRACE_AGG
BEGIN
{
	@a = count(); trace(@a);
}
