// tag: D_DECL_PROTO_VARARGS
int x[int, ...];
BEGIN
{
	trace(1);
}
