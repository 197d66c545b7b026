// tag: D_PRINTA_AGGARG 4
BEGIN
{
	printa("%@d", 1);
}
