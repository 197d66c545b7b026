// tag: D_PRINTA_AGGBAD
BEGIN
{
	printa(@nosuchagg);
}
