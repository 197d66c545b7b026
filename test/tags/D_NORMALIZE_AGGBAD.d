// tag: D_NORMALIZE_AGGBAD 4
BEGIN
{
	normalize(@nosuch[1], 2);
}
