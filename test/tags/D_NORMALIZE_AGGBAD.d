// tag: D_NORMALIZE_AGGBAD
BEGIN
{
	normalize(@nosuch, 2);
}
