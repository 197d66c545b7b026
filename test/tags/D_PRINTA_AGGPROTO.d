// tag: D_PRINTA_AGGPROTO
BEGIN
{
	@a[1] = count(); @b["x"] = count(); printa("%@d %@d", @a, @b);
}
