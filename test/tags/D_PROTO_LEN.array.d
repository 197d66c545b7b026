// tag: D_PROTO_LEN 4
BEGIN
{
	a[1, 2] = 3; trace(a[1]);
}
