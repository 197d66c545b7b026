// tag: D_PRINTA_PROTO 4
BEGIN
{
	printa("x");
}
