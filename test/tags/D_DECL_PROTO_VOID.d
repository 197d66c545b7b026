// tag: D_DECL_PROTO_VOID
int x[int, void];
BEGIN
{
	trace(1);
}
