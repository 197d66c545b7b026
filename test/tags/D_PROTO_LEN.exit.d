// tag: D_PROTO_LEN 4
BEGIN
{
	exit();
}
