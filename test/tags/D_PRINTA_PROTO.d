// tag: D_PRINTA_PROTO
BEGIN
{
	printa();
}
