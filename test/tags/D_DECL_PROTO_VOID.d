// tag: D_DECL_PROTO_VOID 2
int x(int, void);
BEGIN
{
	trace(1);
}
