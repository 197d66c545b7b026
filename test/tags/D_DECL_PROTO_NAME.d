// tag: D_DECL_PROTO_NAME 2
int x(void v);
BEGIN
{
	trace(1);
}
