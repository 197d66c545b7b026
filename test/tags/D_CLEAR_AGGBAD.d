// tag: D_CLEAR_AGGBAD 4
BEGIN
{
	clear(@nosuch[1]);
}
