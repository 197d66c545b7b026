// tag: D_TRUNC_PROTO 4
BEGIN
{
	trunc();
}
