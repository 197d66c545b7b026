// tag: D_PRINTA_AGGARG
BEGIN
{
	@a[1] = count(); printa(@a[1]);
}
