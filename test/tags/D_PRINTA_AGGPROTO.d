// tag: D_PRINTA_AGGPROTO
BEGIN
{
	@a[1] = count(); printa(@a[1]);
}
