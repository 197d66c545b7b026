// tag: D_TRUNC_AGGBAD
BEGIN
{
	trunc(@nosuch);
}
