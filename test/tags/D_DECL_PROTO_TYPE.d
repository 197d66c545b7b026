// tag: D_DECL_PROTO_TYPE 2
int x[void];

BEGIN
{
	trace(1);
}
