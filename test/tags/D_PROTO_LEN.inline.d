// tag: D_PROTO_LEN 5
inline int add[int a, int b] = a + b;
BEGIN
{
	trace(add[1]);
}
