// tag: D_DECL_PROTO_TYPE
struct nosuchstruct;
int x[struct nosuchstruct];
BEGIN
{
	trace(1);
}
