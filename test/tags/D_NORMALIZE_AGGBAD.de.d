// tag: D_NORMALIZE_AGGBAD
BEGIN
{
	denormalize(@nosuch);
}
