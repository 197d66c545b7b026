// tag: D_PROTO_ARG 4
BEGIN
{
	a["x"] = 3; trace(a[1]);
}
