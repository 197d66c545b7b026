// tag: D_DECL_PROTO_VARARGS 2
int x[int, ...];
BEGIN
{
	trace(1);
}
