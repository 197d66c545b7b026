// tag: D_PROTO_LEN
BEGIN
{
	trace(strlen("a", "b"));
}
