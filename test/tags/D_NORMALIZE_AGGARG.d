// tag: D_NORMALIZE_AGGARG
BEGIN
{
	normalize(1, 2);
}
