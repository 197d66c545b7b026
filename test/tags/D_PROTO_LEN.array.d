// tag: D_PROTO_LEN
BEGIN
{
	a[1, 2] = 3; trace(a[1]);
}
