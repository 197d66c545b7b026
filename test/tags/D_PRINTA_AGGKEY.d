// tag: D_PRINTA_AGGKEY 4
BEGIN
{
	@a[1] = count(); @b[1, 2] = count(); printa("%@d %@d", @a, @b);
}
