// tag: D_CLEAR_AGGBAD
BEGIN
{
	clear(@nosuch);
}
