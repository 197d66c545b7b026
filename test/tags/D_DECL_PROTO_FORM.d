// tag: D_DECL_PROTO_FORM 2
inline int f[int] = 3;
BEGIN
{
	trace(1);
}
