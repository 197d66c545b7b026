// tag: D_PRINTA_AGGARG 4
BEGIN
{
	@a[1] = count(); printa(@a[1]);
}
