// A bare @ is an aggregation too.
// run: -q
BEGIN
{
	@ = count();
	@ = count();
	printa("%@d\n", @);
	exit(0);
}
