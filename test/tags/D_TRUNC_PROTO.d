// tag: D_TRUNC_PROTO
BEGIN
{
	trunc();
}
