// tag: D_PROTO_ARG 5
inline int add[int a, int b] = a + b;
BEGIN
{
	trace(add[1, "two"]);
}
