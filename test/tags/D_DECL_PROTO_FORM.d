// tag: D_DECL_PROTO_FORM
inline int f[int] = 3;
BEGIN
{
	trace(1);
}
