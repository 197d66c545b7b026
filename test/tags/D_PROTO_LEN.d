// tag: D_PROTO_LEN 4
BEGIN
{
	trace(strlen("a", "b"));
}
