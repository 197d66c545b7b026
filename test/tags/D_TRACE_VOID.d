// tag: D_TRACE_VOID 4
BEGIN
{
	trace((void)1);
}
