// tag: D_NORMALIZE_AGGBAD 4
BEGIN
{
	denormalize(@nosuch[1]);
}
