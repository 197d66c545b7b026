// tag: D_DECL_PROTO_NAME
int x[void v];
BEGIN
{
	trace(1);
}
