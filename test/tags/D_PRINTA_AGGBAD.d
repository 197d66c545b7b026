// tag: D_PRINTA_AGGBAD 4
BEGIN
{
	printa(@nosuchagg[1]);
}
