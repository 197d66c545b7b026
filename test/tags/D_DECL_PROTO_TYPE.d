// tag: D_DECL_PROTO_TYPE
int x[void];

BEGIN
{
	trace(1);
}
