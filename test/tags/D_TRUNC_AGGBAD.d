// tag: D_TRUNC_AGGBAD 4
BEGIN
{
	trunc(@nosuch[1]);
}
