// tag: D_PRINTA_AGGPROTO 4
BEGIN
{
	@a[1] = count(); @b["x"] = count(); printa("%@d %@d", @a, @b);
}
