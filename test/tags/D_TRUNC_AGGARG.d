// tag: D_TRUNC_AGGARG 4
BEGIN
{
	trunc(1);
}
