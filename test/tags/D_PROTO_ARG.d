// tag: D_PROTO_ARG
BEGIN
{
	trace(strlen(17));
}
