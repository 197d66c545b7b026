// tag: D_PRINTA_AGGARG
BEGIN
{
	printa("%@d", 1);
}
