// tag: D_NORMALIZE_AGGARG 4
BEGIN
{
	normalize(1, 2);
}
