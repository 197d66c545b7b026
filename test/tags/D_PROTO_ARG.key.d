// tag: D_PROTO_ARG
BEGIN
{
	a["x"] = 3; trace(a[1]);
}
